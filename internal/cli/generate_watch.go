package cli

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui"
)

// watchAndGenerate is `slipway generate --watch`: mistakes are told and waited out.
func (inv *invocation) watchAndGenerate(ctx context.Context, root string, flags generateFlags) error {
	attempt := func() {
		begin := time.Now()
		result, err := inv.generateAlone(ctx, root, flags)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			ui.Fail(inv.handler, err)
		case changedAny(result):
			ui.Fail(inv.handler, inv.checkDefinitions(ctx, root, result, flags.strict))
			inv.handler.Handle(generated(result, time.Since(begin)))
		}
	}
	ready := func() {
		attempt()
		inv.handler.Handle(report.Note{Text: "watching " + root + "; Ctrl-C ends it"})
	}
	return regenerate.Watch(ctx, root, ready, attempt)
}

// changedAny reports whether a run is worth a line: a file changed.
func changedAny(result generate.Result) bool {
	for _, f := range result.Files {
		if f.Action != report.Unchanged {
			return true
		}
	}
	return false
}
