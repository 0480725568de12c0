package load

import (
	"context"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// reserved are the patterns that the go command takes for sets of packages, whatever folders there are.
var reserved = []string{"all", "cmd", "std", "tool", "work"}

// matchReserved finds the packages of a reserved pattern. Those of Go itself have nothing to generate, and are left
// out.
func (l *Loader) matchReserved(ctx context.Context, dir, pattern string) (all []matched, err error) {
	if pattern == "std" || pattern == "cmd" {
		return nil, nil
	}
	m, err := l.modulesFor(dir)
	if err != nil {
		return nil, err
	}
	l.config.Inputs.Opaque() // what the go command reads is not noted
	out, err := m.goOutput("list", "-e", "-tags", strings.Join(l.config.Tags, ","), "-f", "{{if not .Standard}}{{if or .GoFiles .CgoFiles}}{{.ImportPath}}{{end}}{{end}}", pattern)
	if err != nil {
		return nil, &report.Error{What: "the packages of a pattern cannot be listed", Where: "paths=" + pattern, Err: err, Hint: "use ./... for the packages of the project"}
	}
	for _, path := range strings.Fields(string(out)) {
		some, err := l.match(ctx, dir, path)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
