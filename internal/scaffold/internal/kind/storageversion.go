package kind

import (
	"fmt"
	"path"
	"regexp"
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// storageVersion marks the version of a kind that the API server stores.
const storageVersion = "+kubebuilder:storageversion"

// hasStorageVersion reports whether a kind's type in the file is marked as stored, in the comments above it. Other
// kinds may be in it.
func hasStorageVersion(src []byte, kind string) bool {
	above := regexp.MustCompile(`(?m)((?:^[ \t]*(?://.*)?\r?\n)*)^[ \t]*(?:type[ \t]+)?` + kind + `[ \t]+struct\b`).FindSubmatch(src)
	return above != nil && regexp.MustCompile(`(?m)^\s*//\s*`+regexp.QuoteMeta(storageVersion)+`\s*$`).Match(above[1])
}

// unmarkType returns an edit that removes what markType has put above a struct type.
func unmarkType(kind, marker string) func(string, []byte) ([]byte, error) {
	marked := regexp.MustCompile(`(?m)^// ` + regexp.QuoteMeta(marker) + `\r?\n(type\s+` + kind + `\s+struct\b)`)
	return func(_ string, src []byte) ([]byte, error) { return marked.ReplaceAll(src, []byte("$1")), nil }
}

// MarkStorageVersion marks the version that is stored when a kind gets its second
// version: the API server wants exactly one, and the first one has the objects.
func MarkStorageVersion(p *plan.Plan, file *project.Project, r project.Resource) error {
	own, err := p.Find(projectfile.TypesFile(p, file, owned(r)))
	if err != nil || hasStorageVersion(own.After(), r.Kind) { // which its author wrote before the command ran
		return err
	}
	others, err := otherVersions(p, file, r)
	if err != nil {
		return err
	}
	var first string
	for _, name := range others {
		c, err := p.Find(name)
		if err != nil {
			return err
		}
		if hasStorageVersion(c.After(), r.Kind) {
			return nil
		}
		if first == "" && c.OnDisk() {
			first = name
		}
	}
	if first == "" {
		return nil
	}
	return p.Edit(first, piece.MarkType(r.Kind, storageVersion))
}

// owned is a kind whose types are the project's, though PROJECT may not list it yet.
func owned(r project.Resource) project.Resource {
	if r.API == nil {
		r.API = &project.API{}
	}
	return r
}

// HasOtherVersion reports whether the project has another version of a kind, be it listed in PROJECT or not.
func HasOtherVersion(p *plan.Plan, file *project.Project, r project.Resource) (bool, error) {
	others, err := otherVersions(p, file, r)
	return len(others) > 0, err
}

// otherVersions are the files of the kind's other versions: those that PROJECT lists and, after them, those that the
// code has besides.
func otherVersions(p *plan.Plan, file *project.Project, r project.Resource) ([]string, error) {
	var files []string
	for _, o := range file.Resources {
		if o.API != nil && o.Group == r.Group && o.Kind == r.Kind && o.Version != r.Version {
			files = append(files, file.TypesFile(o))
		}
	}
	found, err := projectfile.Declarations(p, file, r)
	for _, d := range found {
		if d.Package.Version == r.Version {
			continue
		}
		listed := slices.IndexFunc(files, func(file string) bool { return path.Dir(file) == path.Dir(d.File) })
		if listed < 0 {
			files = append(files, d.File)
		} else {
			files[listed] = d.File // which may have a name of its own
		}
	}
	return files, err
}

// SettleStorageVersion leaves the other versions of the kind with one that is stored: a
// version that is alone needs no marker, and gets rid of one that slipway has put there.
func SettleStorageVersion(p *plan.Plan, file *project.Project, r project.Resource) error {
	files, err := otherVersions(p, file, r)
	if err != nil {
		return err
	}
	if deleted := file.TypesFile(r); !slices.Contains(files, deleted) {
		c, err := p.Find(deleted)
		if err != nil {
			return err
		}
		if c.There() { // kept, since somebody changed or uses it
			files = append(files, deleted)
		}
	}
	marked := ""
	for _, name := range files {
		c, err := p.Find(name)
		if err != nil {
			return err
		}
		if hasStorageVersion(c.After(), r.Kind) {
			marked = name
		}
	}
	switch {
	case len(files) == 1 && marked != "":
		return unmarkStored(p, r, marked)
	case len(files) > 1 && marked == "":
		return p.Edit(files[0], piece.MarkType(r.Kind, storageVersion))
	}
	return nil
}

// unmarkStored takes the marker from the one version that is left if slipway has put it there, and says that it stays
// in a file that slipway did not make.
func unmarkStored(p *plan.Plan, r project.Resource, types string) error {
	scaffolded, ours := p.Base().File(types)
	switch {
	case hasStorageVersion(scaffolded, r.Kind):
		return p.Edit(types, unmarkType(r.Kind, storageVersion))
	case !ours:
		p.Leave(fmt.Sprintf("%s: // %s stays, since slipway did not make this file: one version alone needs none", types, storageVersion))
	}
	return nil
}
