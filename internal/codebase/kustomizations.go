package codebase

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

const (
	mostFolders = 300    // with a kustomization
	mostEntries = 50_000 // that a walk of the project visits
	mostListed  = 2000   // for one folder
)

// Kustomizations is the graph of a project's kustomizations: which lists which. It builds nothing; package
// kustomization does that. It is not safe for concurrent use.
type Kustomizations struct {
	view    fileview.View
	folders []string
	linked  []string                        // folders whose kustomization file is a link
	known   map[string]*parsedKustomization // by folder; nil if it has no kustomization
	err     error                           // the first reason why some were not read
}

// readConfig finds the project's kustomizations. It skips folders and files that cannot be read: kustomize reports
// them.
func (c *Codebase) readConfig() (*Kustomizations, error) {
	k := &Kustomizations{view: c.view, known: map[string]*parsedKustomization{}}
	return k, k.walk()
}

// walk finds the folders with a kustomization. It does not follow links.
func (k *Kustomizations) walk() error {
	entries := 0
	err := fs.WalkDir(k.view, ".", func(name string, d fs.DirEntry, err error) error {
		entries++
		switch {
		case err != nil && name != ".":
			k.err = cmp.Or[error](k.err, &report.Error{Class: report.BadProject, What: "the folder cannot be read", Where: name, Err: err})
			return skip(d)
		case err != nil:
			return err
		case entries > mostEntries || len(k.folders) == mostFolders:
			k.err = cmp.Or[error](k.err, &report.Error{Class: report.BadProject, What: fmt.Sprintf("the project has more than %d folders with a kustomization or %d files", mostFolders, mostEntries), Where: name})
			return fs.SkipAll
		case d.IsDir() && name != "." && sourcefolder.WithoutConfiguration(d.Name()):
			return fs.SkipDir
		case IsKustomization(name):
			k.add(name, d)
		}
		return nil
	})
	if err != nil {
		return &report.Error{Class: report.BadProject, What: "the project's folder cannot be read", Where: ".", Err: err}
	}
	return nil
}

// add adds the folder of a kustomization file.
func (k *Kustomizations) add(name string, d fs.DirEntry) {
	folders := &k.folders
	if d.Type()&fs.ModeSymlink != 0 {
		folders = &k.linked
	}
	if folder := path.Dir(name); isRegular(k.view, name) && !slices.Contains(*folders, folder) {
		*folders = append(*folders, folder)
	}
}

func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// isRegular reports whether name is a file or a link to one.
func isRegular(view fs.StatFS, name string) bool {
	info, err := view.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// kustomizationIn returns the kustomization of a folder, or nil.
func (k *Kustomizations) kustomizationIn(folder string) *parsedKustomization {
	if found, ok := k.known[folder]; ok {
		return found
	}
	found := k.read(folder)
	k.known[folder] = found
	return found
}

// read parses the kustomization of a folder under the first recognized name that exists.
func (k *Kustomizations) read(folder string) *parsedKustomization {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		file := path.Join(folder, name)
		src, err := k.view.ReadFile(file)
		switch {
		case err == nil:
			return parse(file, src)
		case !errors.Is(err, fs.ErrNotExist):
			k.err = cmp.Or[error](k.err, &report.Error{Class: report.BadProject, What: "the file cannot be read", Where: file, Err: err})
		}
	}
	return nil
}

// reachableFiles returns a folder and all files and folders that it names, directly or not.
func (k *Kustomizations) reachableFiles(folder string) map[string]bool {
	all := map[string]bool{}
	var add func(string)
	add = func(name string) {
		if all[name] {
			return
		}
		all[name] = true
		if found := k.kustomizationIn(name); found != nil {
			all[found.file] = true
			for _, named := range found.named {
				add(named)
			}
		}
	}
	add(folder)
	return all
}

// Parts returns a folder and all folders with a kustomization that it builds from, in no order.
func (k *Kustomizations) Parts(folder string) []string {
	var parts []string
	for name := range k.reachableFiles(folder) {
		if k.kustomizationIn(name) != nil {
			parts = append(parts, name)
		}
	}
	return parts
}

// File returns the kustomization file of a folder, which must have one.
func (k *Kustomizations) File(folder string) string { return k.kustomizationIn(folder).file }

// ListedBy returns the folders, sorted, whose kustomizations list a file or another folder.
func (k *Kustomizations) ListedBy(name string) []string {
	var by []string
	for _, other := range k.folders {
		if found := k.kustomizationIn(other); found != nil && slices.Contains(found.listed, name) {
			by = append(by, other)
		}
	}
	return by
}

// NamedBy returns the folders whose kustomizations name a file anywhere, such as below crds or in a generator.
func (k *Kustomizations) NamedBy(name string) []string {
	var by []string
	for _, other := range k.folders {
		if found := k.kustomizationIn(other); found != nil && slices.Contains(found.named, name) {
			by = append(by, other)
		}
	}
	return by
}

// Unread returns the first reason why a kustomization may list more than [Kustomizations.ListedBy] knows: a folder or a
// file that cannot be read, a link, a file that is not YAML, or a project that is larger than what is looked at. It
// returns nil if there is none.
func (k *Kustomizations) Unread() error {
	if len(k.linked) > 0 {
		return &report.Error{Class: report.BadProject, What: "the kustomization in this folder is a link, which is not followed", Where: k.linked[0]}
	}
	for _, folder := range k.Folders() {
		if found := k.kustomizationIn(folder); found != nil && (found.broken || found.partly) {
			return &report.Error{Class: report.BadProject, What: "the kustomization is not one that kustomize builds", Where: found.file}
		}
	}
	return k.err
}

// Elsewhere reports whether a folder builds from something outside the project.
func (k *Kustomizations) Elsewhere(folder string) bool {
	return slices.ContainsFunc(k.Parts(folder), func(part string) bool { return k.kustomizationIn(part).elsewhere })
}

// Folders returns all folders with a kustomization, in no order.
func (k *Kustomizations) Folders() []string { return slices.Concat(k.folders, k.linked) }

// Tops returns the folders, sorted, whose kustomizations no other one lists and that are not components: each can be
// deployed by itself. Unreadable ones are included, so that kustomize reports why.
func (k *Kustomizations) Tops() []string {
	var tops []string
	listed := map[string]bool{}
	for _, folder := range slices.Concat(k.folders, k.linked) {
		found := k.kustomizationIn(folder)
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

// A Listed is a file and the kustomization that lists it.
type Listed struct{ File, By string }

// DeployedFiles returns the files that a folder builds from, each once, in the order in which they are listed. It reads
// only the folders below this one. It skips entries that are missing or outside the project, which kustomize reports.
// The error is that a kustomization cannot be read.
func (c *Codebase) DeployedFiles(folder string) ([]Listed, error) {
	t := tree{Kustomizations: &Kustomizations{view: c.view, known: map[string]*parsedKustomization{}}, seen: map[string]bool{}}
	t.folder(folder)
	return t.files, t.err
}

// A tree walks from one kustomization to all that it lists.
type tree struct {
	*Kustomizations
	seen  map[string]bool
	files []Listed
}

func (t *tree) folder(folder string) {
	found := t.kustomizationIn(folder)
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
