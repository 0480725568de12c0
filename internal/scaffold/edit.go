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

// An Edit changes the shape of a project that is there, such as [Relicense]: it plans
// files, and changes what is written to PROJECT at the end. It plans only what is missing,
// so that a second run changes nothing.
type Edit = func(*Plan, *project.Project) error

// EditProject plans edits of the project in a folder, all in one: either each of them
// can be done or none is.
func EditProject(folder *fileview.Folder, edits ...Edit) (*Plan, error) {
	return projectfile.Edit(folder, edits...)
}

// ForManager has later edits change the manager whose main package is in a folder, where there are several.
func ForManager(pkg string) Edit {
	return func(p *Plan, _ *project.Project) error { return p.Code().Choose(pkg) }
}

// MultiGroup lays the project out for several groups, or for one again. APIs, controllers
// and webhooks move, and what names their places is rewritten.
func MultiGroup(on bool) Edit { return layout.MultiGroup(on) }

// DeclareMultiGroup says in PROJECT alone which of the layouts the project has.
func DeclareMultiGroup(on bool) Edit { return layout.Declare(on) }

// InNamespace has the manager watch its own namespace, with permissions there alone, or the
// whole cluster again.
func InNamespace(on bool) Edit { return feature.InNamespace(on) }

// Relicense changes the header that generated and scaffolded Go files begin with. Files
// that are there keep theirs, except for those that are generated again.
func Relicense(l License) Edit { return header.Relicense(l) }

// MadeBy says which slipway edits the project. What Enable writes after it names that release where it brings slipway
// to other machines.
func MadeBy(version string) Edit {
	return func(p *Plan, _ *project.Project) error {
		p.MadeBy(version)
		return nil
	}
}

// Enable switches features on, and writes the files of those that have none yet. Two features keep the certificate;
// enabling one switches the other off.
func Enable(names ...features.Name) Edit { return feature.Enable(names...) }

// Disable switches features off. Their files stay.
func Disable(names ...features.Name) Edit { return feature.Disable(names...) }

// A Waiting is a section of the configuration that is in comments though the project's webhooks need it.
type Waiting = feature.Waiting

// WaitingSections are those of the project in a folder, in the order of their lines.
func WaitingSections(folder *fileview.Folder) ([]Waiting, error) {
	p, file, err := projectfile.Open(folder)
	if err != nil {
		return nil, err
	}
	return feature.WaitingSections(p, file)
}

// CanKeepCertificates reports whether the project in a folder has the code with which a manager starts before it has a
// certificate, as projects made by slipway have: its manager can issue its own.
func CanKeepCertificates(root string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(manager.FlagsFile)))
	return err == nil
}
