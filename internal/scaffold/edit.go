package scaffold

import (
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/header"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/layout"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// An Edit changes the shape of an existing project, such as [Relicense]: it plans files and changes the entries of
// PROJECT. It plans only what is missing, so that a second run changes nothing.
type Edit = func(*Plan, *project.Project) error

// EditProject plans several edits together: all are possible, or none is planned.
func EditProject(folder *fileview.Folder, edits ...Edit) (*Plan, error) {
	return projectfile.Edit(folder, edits...)
}

// ForManager selects the manager that later edits change, by the folder of its main package.
func ForManager(pkg string) Edit {
	return func(p *Plan, _ *project.Project) error { return p.Code().Choose(pkg) }
}

// MultiGroup moves the project to the layout for several groups, or back to that for one.
func MultiGroup(on bool) Edit { return layout.MultiGroup(on) }

// DeclareMultiGroup changes the layout in PROJECT alone. Nothing moves.
func DeclareMultiGroup(on bool) Edit { return layout.Declare(on) }

// InNamespace makes the manager watch its own namespace only, with permissions there alone, or the whole cluster again.
func InNamespace(on bool) Edit { return feature.InNamespace(on) }

// Relicense changes the header of Go files that are scaffolded or generated from now on; existing files keep theirs.
func Relicense(l License) Edit { return header.Relicense(l) }

// MadeBy sets the version of slipway. Files of a later Enable that install slipway on other machines name that release.
func MadeBy(version string) Edit {
	return func(p *Plan, _ *project.Project) error {
		p.MadeBy(version)
		return nil
	}
}

// Enable switches features on and writes the missing files of each. Two features issue the certificate; enabling one
// switches the other off.
func Enable(names ...features.Name) Edit { return feature.Enable(names...) }

// Disable switches features off. Their configuration stays.
func Disable(names ...features.Name) Edit { return feature.Disable(names...) }

// A Waiting is a commented section of a kustomization that the project's webhooks need.
type Waiting = feature.Waiting

// WaitingSections lists the commented sections that the project's webhooks need, by line.
func WaitingSections(folder *fileview.Folder) ([]Waiting, error) {
	p, file, err := projectfile.Open(folder)
	if err != nil {
		return nil, err
	}
	return feature.WaitingSections(p, file)
}

// CanKeepCertificates reports whether the manager can issue its own certificate: projects made by slipway have the code
// with which it starts before there is one.
func CanKeepCertificates(root string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(manager.FlagsFile)))
	return err == nil
}
