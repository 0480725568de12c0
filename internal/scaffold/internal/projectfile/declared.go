package projectfile

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
	"github.com/slipway-dev/slipway/project"
)

// A Declaration is a type in the project's code that is a version of a kind.
type Declaration struct {
	File    string // with slashes
	Line    int
	Version string
}

// Where is the declaration's place, "file:line".
func (d Declaration) Where() string { return report.Position{File: d.File, Line: d.Line}.String() }

// Declarations finds all versions of a kind in the project's code, by what their packages say of group and version. A
// CRD is made of all of them, whether PROJECT lists them or not.
func Declarations(p *plan.Plan, file *project.Project, r project.Resource) ([]Declaration, error) {
	groups := groupsOf(file, r)
	var found []Declaration
	err := walk(p.Root(), otherModule(p.Root(), file), func(name string) {
		line := declaredAt(p.Root(), name, r.Kind)
		if dir := path.Dir(name); line > 0 && slices.Contains(groups, p.APIGroup(dir)) {
			found = append(found, Declaration{File: name, Line: line, Version: p.APIVersion(dir)})
		}
	})
	return found, err
}

// TypesFile is the file of the types of a kind in PROJECT: the usual one or, where that is missing, the one of its
// folder in which the code declares them.
func TypesFile(p *plan.Plan, file *project.Project, r project.Resource) (string, error) {
	usual := file.TypesFile(r)
	if there, err := p.Exists(usual); err != nil || there || !Own(file, r) {
		return usual, err
	}
	found, err := Declarations(p, file, r)
	if err != nil {
		return "", err
	}
	for _, d := range found {
		if path.Dir(d.File) == path.Dir(usual) {
			return d.File, nil
		}
	}
	return usual, nil
}

// groupsOf are the API groups that r's may be: the one of its names, and those in the code of others of its group.
func groupsOf(file *project.Project, r project.Resource) []string {
	groups := []string{r.QualifiedGroup()}
	for _, o := range file.Resources {
		if o.Group == r.Group && Own(file, o) {
			groups = append(groups, o.QualifiedGroup())
		}
	}
	return slices.DeleteFunc(groups, func(group string) bool { return group == "" })
}

// otherModule reports of a folder whether it is a module of its own in which PROJECT has no types: an example, say.
func otherModule(root string, file *project.Project) func(dir string) bool {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real // as in the paths of a walk
	}
	return func(dir string) bool {
		if !sourcefolder.IsModule(dir) {
			return false
		}
		rel, err := filepath.Rel(root, dir)
		return err != nil || !slices.ContainsFunc(file.Resources, func(r project.Resource) bool {
			return Own(file, r) && strings.HasPrefix(file.APIDir(r)+"/", filepath.ToSlash(rel)+"/")
		})
	}
}

// declaredAt is the line at which a file declares the type of a kind's objects, or 0. What cannot be read declares
// none.
func declaredAt(root, name, kind string) int {
	if strings.HasSuffix(name, "_test.go") {
		return 0
	}
	data, err := finite.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil || !bytes.Contains(data, []byte(kind)) {
		return 0
	}
	line := gofile.StructLine(data, kind)
	if line == 0 || !gofile.HasMetadata(data, kind) {
		return 0
	}
	return line
}

// Shape is what the markers above a kind's type say of all its objects: whether they are in namespaces, and the plural
// that is not the usual one, or "". The file may have other kinds.
func Shape(types []byte, kind string) (namespaced bool, plural string) {
	markers := gofile.Above(types, kind)
	if own := ownPlural().FindSubmatch(markers); own != nil && string(own[1]) != project.Plural(kind) {
		plural = string(own[1])
	}
	return !clusterScope().Match(markers), plural
}
