package projects

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// undoOnFailure calls then after a plan was applied. If that fails, it undoes the plan and what then has done.
func undoOnFailure(s *operation.Session, planned *scaffold.Plan, then func() error) error {
	s.Originals = &operation.Originals{}
	defer func() { s.Originals = nil }()
	err := then()
	if err == nil {
		return nil
	}
	if stays := planned.TakeBack(s.ModuleFiles, s.Originals.Files); stays != nil {
		s.Handler.Handle(report.Warning{Text: "the files that this command wrote stay, since they could not be restored: " + stays.Error()})
		return errors.Join(err, stays)
	}
	s.Handler.Handle(report.Warning{Text: "all files are restored, since generating from them failed: correct the mistake and run the command again"})
	return err
}

// moduleFiles are the files that fetching a module changes.
var moduleFiles = []string{"go.mod", "go.sum"}

// noteModuleFiles records the module files of the project in root, to restore them if the change fails.
func noteModuleFiles(s *operation.Session, root string) error {
	s.ModuleFiles = nil
	for _, name := range moduleFiles {
		data, err := safefs.ReadFile(filepath.Join(root, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %s: %w", name, err)
		}
		s.ModuleFiles = append(s.ModuleFiles, scaffold.Replaced{Path: name, Existed: err == nil, Before: data})
	}
	return nil
}
