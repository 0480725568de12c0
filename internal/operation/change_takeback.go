package operation

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// replacedFiles are the files that follow from a change, as they were before it, each once.
type replacedFiles struct {
	list []scaffold.Replaced
	seen map[string]bool
}

// noting notes the files of the project in root; it is nil when nothing is to be noted.
func (r *replacedFiles) noting(root string) func(path string, before []byte) {
	if r == nil {
		return nil
	}
	return func(path string, before []byte) {
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return // not the project's to restore
		}
		if rel = filepath.ToSlash(rel); r.seen[rel] {
			return
		}
		r.seen[rel] = true
		r.list = append(r.list, scaffold.Replaced{Path: rel, Existed: before != nil, Before: before})
	}
}

// both is a function that calls two, of which either may be nil.
func both(first, second func(path string, before []byte)) func(path string, before []byte) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(path string, before []byte) {
		first(path, before)
		second(path, before)
	}
}

// orTakeBack does what follows from a plan that was applied. When that fails, the plan and what followed from it so
// far are taken back.
func (s *Session) orTakeBack(planned *scaffold.Plan, then func() error) error {
	s.replaced = &replacedFiles{seen: map[string]bool{}}
	defer func() { s.replaced = nil }()
	err := then()
	if err == nil {
		return nil
	}
	if stays := planned.TakeBack(s.fetched, s.replaced.list); stays != nil {
		s.Handler.Handle(report.Warning{Text: "the files that this command wrote stay, since they could not be restored: " + stays.Error()})
		return errors.Join(err, stays)
	}
	s.Handler.Handle(report.Warning{Text: "all files are restored, since generating from them failed: correct the mistake and run the command again"})
	return err
}

// moduleFiles are what fetching a module changes.
var moduleFiles = []string{"go.mod", "go.sum"}

// noteModuleFiles remembers the module files of the project in root, for when what follows from them fails.
func (s *Session) noteModuleFiles(root string) error {
	s.fetched = nil
	for _, name := range moduleFiles {
		data, err := finite.ReadFile(filepath.Join(root, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %s: %w", name, err)
		}
		s.fetched = append(s.fetched, scaffold.Replaced{Path: name, Existed: err == nil, Before: data})
	}
	return nil
}
