package setupenvtest

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// Tool is setup-envtest.
type Tool struct {
	Store Store
	// Programs returns a folder in which the cluster program has the names of the programs that envtest starts. The
	// first time it may take minutes, and says so through its own handler.
	Programs func(context.Context) (dir string, err error)
	Handler  report.Handler
}

// Request is what a user asks for.
type Request struct {
	Selector  Selector
	Platform  Platform
	Installed bool   // only what is in the store
	Force     bool   // make the folder again, in place of what is there
	Exact     bool   // no version may stand in for another
	Assets    string // use this folder, if it is one of programs
}

// Used is what [Tool.Use] has found.
type Used struct {
	Version string `json:"version"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Path    string `json:"path"` // for KUBEBUILDER_ASSETS
}

// check refuses contradictions.
func (r Request) check() error {
	switch {
	case r.Force && r.onlyInstalled():
		return &report.Error{What: "--force and --installed-only exclude each other", Where: "--installed-only, --force",
			Hint: "use one of them", Code: failed}
	case r.Platform.empty():
		return &report.Error{What: "the platform is incomplete", Where: "--os, --arch", Hint: "use flags such as --os linux --arch amd64", Code: failed}
	}
	return nil
}

func (r Request) onlyInstalled() bool { return r.Installed || r.Selector.Installed }

// Use finds a folder of programs, or makes it.
func (t Tool) Use(ctx context.Context, r Request) (Used, error) {
	if err := r.check(); err != nil {
		return Used{}, err
	}
	if used, ok := fromAssets(r.Assets); ok {
		return used, nil
	}
	if r.Platform.wild() {
		return Used{}, &report.Error{What: "* is not a platform to set up", Where: r.Platform.String(),
			Hint: "name a system and an architecture; * is for list and cleanup", Code: failed}
	}
	installed, err := t.Store.List(r.Selector, r.Platform)
	if err != nil {
		return Used{}, err
	}
	c, err := choose(embedded(), r, installed, t.Store.has(own()))
	if err != nil {
		return Used{}, err
	}
	if c.item == own() {
		if err := t.keep(ctx, r.Force); err != nil {
			return Used{}, err
		}
	}
	if c.standIn {
		t.Handler.Handle(report.Warning{Text: fmt.Sprintf("uses the embedded Kubernetes %[2]s instead of %[1]s (--exact forbids that)",
			r.Selector, Kubernetes)})
	}
	return Used{c.item.Version.String(), c.item.OS, c.item.Arch, t.Store.Path(c.item)}, nil
}

// own is the embedded version on this platform.
func own() Item { return Item{embedded(), Host()} }

// keep makes our own folder, or makes it current. Another's programs of the same version stay, unless force is set.
func (t Tool) keep(ctx context.Context, force bool) error {
	folder := t.Store.Path(own())
	if _, ours := readMarker(folder); !ours && !force && t.Store.has(own()) {
		return nil
	}
	dir, err := t.Programs(ctx)
	if err != nil {
		return err
	}
	programs, err := programs(dir)
	if err != nil {
		return err
	}
	if current(folder, programs) {
		return nil
	}
	return t.Store.link(own(), programs)
}

// fromAssets takes a folder that the user names: its name tells the version, or else it must have all the programs.
func fromAssets(folder string) (Used, bool) {
	if folder == "" {
		return Used{}, false
	}
	if i, ok := parseItem(filepath.Base(folder)); ok {
		return Used{i.Version.String(), i.OS, i.Arch, folder}, true
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(folder, fileName(name))); err != nil {
			return Used{}, false
		}
	}
	return Used{"*", "*", "*", folder}, true
}

// Listed is an item of [Tool.List].
type Listed struct {
	Version   string `json:"version"`
	OS        string `json:"os"`
	Arch      string `json:"arch"`
	Installed bool   `json:"installed"` // otherwise it can be had
}

// List reports what is installed and, unless only that is asked for, what can be had.
func (t Tool) List(r Request) ([]Listed, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	items, err := t.Store.List(r.Selector, r.Platform)
	if err != nil {
		return nil, err
	}
	list := make([]Listed, 0, len(items)+1)
	for _, i := range items {
		list = append(list, Listed{i.Version.String(), i.OS, i.Arch, true})
	}
	if i := own(); !r.onlyInstalled() && r.Selector.Matches(i.Version) && r.Platform.matches(i.Platform) {
		list = append(list, Listed{i.Version.String(), i.OS, i.Arch, false})
	}
	return list, nil
}

// Cleanup removes what matches from the store, and reports what it removed also when it fails.
func (t Tool) Cleanup(r Request) ([]Item, error) {
	r.Force = false
	if err := r.check(); err != nil {
		return nil, err
	}
	return t.Store.Remove(r.Selector, r.Platform)
}

// Sideload puts an archive of programs into the store, in place of what is there.
func (t Tool) Sideload(r Request, archive io.Reader) (Used, error) {
	if err := r.check(); err != nil {
		return Used{}, err
	}
	version, ok := r.Selector.Concrete()
	if !ok || r.Platform.wild() {
		return Used{}, &report.Error{What: "an archive holds one version for one platform",
			Where: strings.TrimSpace(r.Selector.String() + " " + r.Platform.String()), Hint: "name a full version such as 1.37.1", Code: failed}
	}
	i := Item{version, r.Platform}
	if err := t.Store.add(i, archive); err != nil {
		return Used{}, err
	}
	return Used{version.String(), i.OS, i.Arch, t.Store.Path(i)}, nil
}
