// Package listing knows the kustomizations of a project, as a plan leaves them: which of them its changes reach,
// what each lists, which of them no other one lists, and whether all of that is there.
//
//	project, err := listing.Read(p)
//	for _, folder := range project.Affected() { … }
//	folders := project.Tops()
//
// What one folder builds of takes no look at the whole project:
//
//	files, err := listing.Files(p, "config/default")
//
// It builds nothing: that is kustomize's.
package listing

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

const (
	mostFolders = 300    // with a kustomization, that are looked at
	mostEntries = 50_000 // of the project, that are walked through
)

// Kustomizations are those of a project.
type Kustomizations struct {
	plan    *plan.Plan
	folders []string         // that have one on the disk
	linked  []string         // folders where it is a link
	known   map[string]*list // by their folders; nil in a folder without
	changed map[string]bool  // the files that the plan writes or deletes
	err     error            // why the first of those could not be read that cannot
}

// Read finds the kustomizations of the project that a plan is for. What cannot be read is left to kustomize, which
// reports it.
func Read(p *plan.Plan) (*Kustomizations, error) {
	k := &Kustomizations{plan: p, known: map[string]*list{}, changed: changed(p)}
	return k, k.walk()
}

// changed are the files that a plan writes or deletes.
func changed(p *plan.Plan) map[string]bool {
	files := map[string]bool{}
	for _, f := range p.Changes() {
		if f.Action != report.Kept && f.Action != report.Unchanged {
			files[f.Path], files[f.From] = true, true
		}
	}
	delete(files, "")
	return files
}

// walk finds the folders, without following links.
func (k *Kustomizations) walk() error {
	entries := 0
	err := fs.WalkDir(os.DirFS(k.plan.Root()), ".", func(name string, d fs.DirEntry, err error) error {
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
		case slices.Contains(konfig.RecognizedKustomizationFileNames(), d.Name()):
			k.add(name, d)
		}
		return nil
	})
	if err != nil {
		return fileerror.Unreadable(k.plan.Root(), err)
	}
	return nil
}

// add adds the folder of a kustomization.
func (k *Kustomizations) add(name string, d fs.DirEntry) {
	folders := &k.folders
	if d.Type()&fs.ModeSymlink != 0 {
		folders = &k.linked
	}
	if folder := path.Dir(name); k.isRegular(name) && !slices.Contains(*folders, folder) {
		*folders = append(*folders, folder)
	}
}

// isRegular reports whether a name leads to a file.
func (k *Kustomizations) isRegular(name string) bool {
	info, err := k.stat(name)
	return err == nil && info.Mode().IsRegular()
}

func (k *Kustomizations) stat(name string) (fs.FileInfo, error) {
	return os.Stat(filepath.Join(k.plan.Root(), filepath.FromSlash(name)))
}

// skip passes over what a walk cannot read.
func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
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

// read reads the kustomization of a folder, under the first name that there is. If the plan deletes the only one, that
// lists nothing.
func (k *Kustomizations) read(folder string) (found *list) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		file := path.Join(folder, name)
		c, err := k.plan.Find(file)
		switch {
		case err != nil:
			k.err = cmp.Or(k.err, err)
		case c.There():
			return parse(file, c.After())
		case c.OnDisk() && found == nil:
			found = &list{file: file, deleted: true}
		}
	}
	return found
}

// below is a folder and all that it names, directly or not, as the plan leaves it: files, and folders with a
// kustomization.
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

// Affected are the folders with a kustomization that reads a file which the plan changes: one that builds of another
// comes before that. Components, which do not build by themselves, and those that list nothing any more are none.
func (k *Kustomizations) Affected() []string {
	var folders []string
	size := map[string]int{}
	for _, folder := range k.folders {
		found := k.of(folder)
		if found == nil || found.isEmpty() || found.component {
			continue
		}
		below := k.below(folder)
		if k.changes(below) {
			folders = append(folders, folder)
		}
		size[folder] = len(below)
	}
	slices.SortStableFunc(folders, func(a, b string) int { return cmp.Compare(size[b], size[a]) })
	return folders
}

// changes reports whether the plan changes one of these files.
func (k *Kustomizations) changes(files map[string]bool) bool {
	for name := range files {
		if k.changed[name] {
			return true
		}
	}
	return false
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

// ListedBy are the folders, in the order of their names, whose kustomizations list another one once the plan is
// applied.
func (k *Kustomizations) ListedBy(folder string) []string {
	var by []string
	for _, other := range k.folders {
		if found := k.of(other); found != nil && slices.Contains(found.listed, folder) {
			by = append(by, other)
		}
	}
	return by
}

// Complete reports whether all that a folder builds of is in the project once the plan is applied: nothing is
// elsewhere, such as in a repository, or to be made yet, such as what is generated, or the first of the objects of a
// folder. What the plan deletes is the plan's doing, and no reason, but that the last object of a folder goes.
func (k *Kustomizations) Complete(folder string) bool { return k.complete(folder, map[string]bool{}) }

func (k *Kustomizations) complete(name string, seen map[string]bool) bool {
	found := k.of(name)
	if found == nil || seen[name] {
		return seen[name] || !k.isAbsent(name)
	}
	seen[name] = true
	return !found.elsewhere && !found.isEmpty() && !slices.ContainsFunc(found.listed, func(name string) bool { return !k.complete(name, seen) })
}

// Elsewhere reports whether a folder builds of something that is not in the project.
func (k *Kustomizations) Elsewhere(folder string) bool {
	return slices.ContainsFunc(k.Parts(folder), func(part string) bool {
		found := k.of(part)
		return found != nil && found.elsewhere
	})
}

// isAbsent reports whether there is no such file or folder, and the plan neither makes nor deletes it.
func (k *Kustomizations) isAbsent(name string) bool {
	if _, err := k.stat(name); err == nil {
		return false
	}
	there, err := k.plan.Exists(name)
	return err == nil && !there
}
