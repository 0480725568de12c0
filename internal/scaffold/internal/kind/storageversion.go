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

const storageVersion = "+kubebuilder:storageversion"

// IsStored reports whether the comments above a kind's type in the file mark it as stored.
func IsStored(src []byte, kind string) bool {
	above := regexp.MustCompile(`(?m)((?:^[ \t]*(?://.*)?\r?\n)*)^[ \t]*(?:type[ \t]+)?` + kind + `[ \t]+struct\b`).FindSubmatch(src)
	return above != nil && regexp.MustCompile(`(?m)^\s*//\s*`+regexp.QuoteMeta(storageVersion)+`\s*$`).Match(above[1])
}

// unmarkType returns an edit that removes a marker directly above a struct type.
func unmarkType(kind, marker string) func(string, []byte) ([]byte, error) {
	marked := regexp.MustCompile(`(?m)^// ` + regexp.QuoteMeta(marker) + `\r?\n(type\s+` + kind + `\s+struct\b)`)
	return func(_ string, src []byte) ([]byte, error) { return marked.ReplaceAll(src, []byte("$1")), nil }
}

// Stored returns an edit that marks a kind's version as the stored one.
func Stored(kind string) func(string, []byte) ([]byte, error) {
	return piece.MarkType(kind, storageVersion)
}

// Unstored returns an edit that takes this mark away.
func Unstored(kind string) func(string, []byte) ([]byte, error) {
	return unmarkType(kind, storageVersion)
}

// MarkStorageVersion marks the stored version of a kind that gets its second one: the API server requires exactly one,
// and existing objects are in the first.
func MarkStorageVersion(p *plan.Plan, file *project.Project, r project.Resource) error {
	own, err := p.Find(projectfile.TypesFile(p, file, owned(r)))
	if err != nil || IsStored(own.After(), r.Kind) { // the author marked it
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
		if IsStored(c.After(), r.Kind) {
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

// owned returns a kind whose types are the project's, even if PROJECT does not list it yet.
func owned(r project.Resource) project.Resource {
	if r.API == nil {
		r.API = &project.API{}
	}
	return r
}

// HasOtherVersion reports whether the project has another version of a kind, in PROJECT or only in its code.
func HasOtherVersion(p *plan.Plan, file *project.Project, r project.Resource) (bool, error) {
	others, err := otherVersions(p, file, r)
	return len(others) > 0, err
}

// otherVersions returns the files of the kind's other versions: those in PROJECT first, then those that only the code
// has.
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
			files[listed] = d.File // the file may have a name of the authors' own
		}
	}
	return files, err
}

// SettleStorageVersion ensures that the remaining versions of a kind have one that is stored. A single version needs no
// marker; one that slipway added is removed.
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
		if c.There() { // kept, since the user changed it or code uses it
			files = append(files, deleted)
		}
	}
	marked := ""
	for _, name := range files {
		c, err := p.Find(name)
		if err != nil {
			return err
		}
		if IsStored(c.After(), r.Kind) {
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

// unmarkStored removes the marker from the last version if slipway added it. In a file that slipway did not make, it
// reports that the marker stays.
func unmarkStored(p *plan.Plan, r project.Resource, types string) error {
	scaffolded, ours := p.Base().File(types)
	switch {
	case IsStored(scaffolded, r.Kind):
		return p.Edit(types, unmarkType(r.Kind, storageVersion))
	case !ours:
		p.Leave(fmt.Sprintf("%s: // %s stays, since slipway did not make this file: one version alone needs none", types, storageVersion))
	}
	return nil
}
