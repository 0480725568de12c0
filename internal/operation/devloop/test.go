package devloop

import (
	"context"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/suites"
	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
)

// test runs the tests of packages, each in one of the folders, as `slipway test` does.
func (p *project) test(ctx context.Context, folders []string) error {
	var args []string
	for _, dir := range folders {
		if rel := p.relative(dir); rel != "" {
			args = append(args, "./"+rel)
		}
	}
	if len(args) == 0 {
		return nil
	}
	lines := process.NewLines(func(line string) { p.handler.Handle(report.Output{Part: report.TestsPart, Text: line}) })
	defer lines.Flush()
	apart := operation.Apart(p.session)
	apart.Dir, apart.Output, apart.Stderr = filepath.Clean(p.root), lines, lines
	return suites.Test(ctx, apart, suites.Suites{Args: args})
}
