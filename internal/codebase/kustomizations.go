package codebase

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

const (
	mostFolders = 300    // with a kustomization, that are looked at
	mostEntries = 50_000 // of the project, that are walked through
	mostListed  = 2000   // names that are looked at for one folder
)

// Kustomizations are those of a project: what each lists, which of them no other one lists, and whether all of that is
// there. They build nothing: that is kustomize's.
type Kustomizations struct {
	view    fileview.View
	folders []string         // that have one
	linked  []string         // folders where it is a link
	known   map[string]*list // by their folders; nil in a folder without
	err     error            // why the first of those could not be read that cannot
}

// readConfig finds the project's kustomizations. What cannot be read is left to kustomize, which reports it.
func (c *Codebase) readConfig() (*Kustomizations, error) {
	k := &Kustomizations{view: c.view, known: map[string]*list{}}
	return k, k.walk()
}

// walk finds the folders, without following links.
func (k *Kustomizations) walk() error {
	entries := 0
	err := fs.WalkDir(k.view, ".", func(name string, d fs.DirEntry, err error) error {
		entries++
		switch {
		case err != nil && name != ".":
			return skip(d)
		case err != nil:
			return err
		case entries > mostEntries || len(k.folders) == mostFolders:
			return fs.SkipAll
		case d.IsDir() && name != "." && sourcefolder.WithoutConfiguration(d.Name()):
			return fs.SkipDir
		case IsKustomization(name):
			k.add(name, d)
		}
		return nil
	})
	if err != nil {
		return &report.Error{What: "the project's folder cannot be read", Where: ".", Err: err}
	}
	return nil
}

// add adds the folder of a kustomization.
func (k *Kustomizations) add(name string, d fs.DirEntry) {
	folders := &k.folders
	if d.Type()&fs.ModeSymlink != 0 {
		folders = &k.linked
	}
	if folder := path.Dir(name); isRegular(k.view, name) && !slices.Contains(*folders, folder) {
		*folders = append(*folders, folder)
	}
}

// skip passes over what a walk cannot read.
func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// isRegular reports whether a name leads to a file.
func isRegular(view fs.StatFS, name string) bool {
	info, err := view.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// of is the kustomization of a folder, or nil.
func (k *Kustomizations) of(folder string) *list {
	if found, ok := k.known[folder]; ok {
		return found
	}
	found := k.read(folder)
	k.known[folder] = found
	return found
}

// read reads the kustomization of a folder, under the first name that there is.
func (k *Kustomizations) read(folder string) *list {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		file := path.Join(folder, name)
		src, err := k.view.ReadFile(file)
		switch {
		case err == nil:
			return parse(file, src)
		case !errors.Is(err, fs.ErrNotExist):
			k.err = cmp.Or[error](k.err, &report.Error{What: "the file cannot be read", Where: file, Err: err})
		}
	}
	return nil
}

// below is a folder and all that it names, directly or not: files, and folders with a kustomization.
func (k *Kustomizations) below(folder string) map[string]bool {
	all := map[string]bool{}
	var add func(string)
	add = func(name string) {
		if all[name] {
			return
		}
		all[name] = true
		if found := k.of(name); found != nil {
			all[found.file] = true
			for _, named := range found.named {
				add(named)
			}
		}
	}
	add(folder)
	return all
}

// Parts are a folder and those with a kustomization that it builds of.
func (k *Kustomizations) Parts(folder string) []string {
	var parts []string
	for name := range k.below(folder) {
		if k.of(name) != nil {
			parts = append(parts, name)
		}
	}
	return parts
}

// File is the kustomization of a folder.
func (k *Kustomizations) File(folder string) string { return k.of(folder).file }

// ListedBy are the folders, in the order of their names, whose kustomizations list a file or another folder.
func (k *Kustomizations) ListedBy(name string) []string {
	var by []string
	for _, other := range k.folders {
		if found := k.of(other); found != nil && slices.Contains(found.listed, name) {
			by = append(by, other)
		}
	}
	return by
}

// Elsewhere reports whether a folder builds of something that is not in the project.
func (k *Kustomizations) Elsewhere(folder string) bool {
	return slices.ContainsFunc(k.Parts(folder), func(part string) bool { return k.of(part).elsewhere })
}

// Folders are those with a kustomization, in no order.
func (k *Kustomizations) Folders() []string { return slices.Concat(k.folders, k.linked) }

// Tops are the folders, in the order of their names, whose kustomizations are listed by none and are no components:
// what can be deployed by itself. One that cannot be read is among them: kustomize says why.
func (k *Kustomizations) Tops() []string {
	var tops []string
	listed := map[string]bool{}
	for _, folder := range slices.Concat(k.folders, k.linked) {
		found := k.of(folder)
		if found == nil || !found.component {
			tops = append(tops, folder)
		}
		if found == nil {
			continue
		}
		for _, name := range found.listed {
			listed[name] = true
		}
	}
	tops = slices.DeleteFunc(tops, func(folder string) bool { return listed[folder] })
	slices.Sort(tops)
	return slices.Compact(tops)
}

// A Listed file is one that a kustomization has among its resources.
type Listed struct{ File, By string }

// DeployedFiles are the files that a folder builds of, each once, in the order in which they are listed: what other
// places hold is not deployed. What is outside of the project or not there is left to kustomize, which reports it. A
// kustomization that cannot be read is an error. Other folders of the project are not looked at.
func (c *Codebase) DeployedFiles(folder string) ([]Listed, error) {
	t := tree{Kustomizations: &Kustomizations{view: c.view, known: map[string]*list{}}, seen: map[string]bool{}}
	t.folder(folder)
	return t.files, t.err
}

// A tree is a walk from a kustomization to those that it lists.
type tree struct {
	*Kustomizations
	seen  map[string]bool
	files []Listed
}

func (t *tree) folder(folder string) {
	found := t.of(folder)
	if found == nil {
		return
	}
	for _, name := range found.listed {
		if t.seen[name] || len(t.seen) >= mostListed {
			continue
		}
		t.seen[name] = true
		switch info, err := t.view.Stat(name); {
		case err != nil:
		case info.Mode().IsRegular():
			t.files = append(t.files, Listed{File: name, By: found.file})
		case info.IsDir():
			t.folder(name)
		}
	}
}
