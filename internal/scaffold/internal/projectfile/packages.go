package projectfile

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// A Package is a folder of the project's code whose types are a version of an API group.
type Package struct {
	Dir            string // with slashes
	Group, Version string
	Objects        bool // it declares types of objects; else it declares no types yet
}

// Packages finds what the project's code has of API groups, by what packages say of group and version, in the order of
// their folders. One whose types are no objects, such as those of the manager's configuration file, is none of them.
func Packages(p *plan.Plan, file *project.Project) ([]Package, error) {
	files, marked := map[string][]string{}, []string{}
	err := walk(p.Root(), otherModule(p.Root(), file), func(name string) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		dir := path.Dir(name)
		files[dir] = append(files[dir], name)
		if !slices.Contains(marked, dir) && bytes.Contains(source(p.Root(), name), []byte("+groupName=")) {
			marked = append(marked, dir)
		}
	})
	var found []Package
	for _, dir := range marked {
		if of, is := packageOf(p, dir, files[dir]); is {
			found = append(found, of)
		}
	}
	return found, err
}

// packageOf is the package of an API group in a folder with some files.
func packageOf(p *plan.Plan, dir string, files []string) (found Package, is bool) {
	found = Package{Dir: dir, Group: p.APIGroup(dir), Version: p.APIVersion(dir)}
	if found.Group == "" || project.ValidateVersion(found.Version) != nil {
		return found, false
	}
	declares := false
	for _, name := range files {
		structs, objects := gofile.Structs(source(p.Root(), name))
		declares, found.Objects = declares || structs, found.Objects || len(objects) > 0
	}
	return found, found.Objects || !declares
}

// Neighbours are the kinds that the code has in the package of r's types besides r.
func Neighbours(p *plan.Plan, file *project.Project, r project.Resource) (kinds []string) {
	dir := file.APIDir(r)
	entries, err := os.ReadDir(filepath.Join(p.Root(), filepath.FromSlash(dir)))
	if err != nil || !Own(file, r) {
		return nil
	}
	for _, e := range entries {
		if path.Ext(e.Name()) == ".go" && !strings.HasSuffix(e.Name(), "_test.go") {
			_, objects := gofile.Structs(source(p.Root(), path.Join(dir, e.Name())))
			kinds = append(kinds, objects...)
		}
	}
	return slices.DeleteFunc(kinds, func(kind string) bool { return kind == r.Kind })
}

// source is a file's text. What cannot be read, which what builds it reports, has none.
func source(root, name string) []byte {
	data, err := finite.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return nil
	}
	return data
}

// InGroup are the packages of the API group that r's kinds are of.
func InGroup(packages []Package, file *project.Project, r project.Resource) (some []Package) {
	groups := groupsOf(file, r)
	for _, of := range packages {
		if slices.Contains(groups, of.Group) {
			some = append(some, of)
		}
	}
	return some
}
