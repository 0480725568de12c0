package projects

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// filterWarnings calls f with a session that shows only warnings about files that a plan creates. It counts those about
// other Go files, which `slipway generate` lists.
func filterWarnings(s *operation.Session, root string, planned *scaffold.Plan, f func(*operation.Session) error) error {
	var created []string
	for _, file := range planned.Changes() {
		if file.Action == report.Created {
			created = append(created, s.FromHere(root, filepath.FromSlash(file.Path)))
		}
	}
	left, about := 0, *s
	about.Handler = report.HandlerFunc(func(e report.Event) {
		if f, ok := e.(report.Finding); ok && !f.Fatal && filepath.Ext(f.File) == ".go" && !slices.Contains(created, f.File) {
			left++
			return
		}
		s.Handler.Handle(e)
	})
	err := f(&about)
	if left > 0 {
		s.Handler.Handle(report.Note{Text: fmt.Sprintf("%s about existing code; slipway generate lists them", operation.Count(left, "warning"))})
	}
	return err
}
