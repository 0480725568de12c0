package generation

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

// Watch generates whenever a file of the project changes, until ctx ends. It reports errors and continues.
func Watch(ctx context.Context, s *operation.Session, g Generation) error {
	root, err := operation.GeneratedRoot(s)
	if err != nil {
		return err
	}
	attempt := func() {
		begin := time.Now()
		plan, result, err := generateAlone(ctx, s, root, g)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.Fail(err)
		case changedAny(result):
			if err := checkDefinitions(ctx, s, root, result, g.Strict); err != nil {
				s.Fail(err)
			}
			s.Handler.Handle(generated(result, plan.Pin().Version, time.Since(begin)))
		}
	}
	ready := func() {
		attempt()
		s.Handler.Handle(report.Note{Text: "watching " + root + "; Ctrl-C ends it"})
	}
	return regenerate.Watch(ctx, root, func() []string { return headers(s, root) }, s.Handler, ready, attempt)
}

// headers returns the project's header files, or nil if its Makefile has a mistake, which generating reports.
func headers(s *operation.Session, root string) []string {
	headers, err := s.Codebase(root).Headers()
	if err != nil {
		return nil
	}
	return headers
}

func changedAny(result generate.Result) bool {
	for _, f := range result.Files {
		if f.Action != report.Unchanged {
			return true
		}
	}
	return false
}
