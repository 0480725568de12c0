package newapi

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// A neighbour is a folder of types that are there, as a new kind sees it.
type neighbour struct {
	dir, version string
	name         string // of the group's folder, where groups have some
	sameGroup    bool
}

// parent is the folder of the group's versions, and whether it has the group's name. It is "" if the neighbour's folder
// is not that of a version.
func (n neighbour) parent() (dir string, named bool) {
	dir, inVersion := strings.CutSuffix(n.dir, "/"+n.version)
	if !inVersion {
		return "", false
	}
	return dir, n.name != "" && path.Base(dir) == n.name
}

// placeOf is the folder of a new kind's types: where others of its group and version are, beside another version of
// its group, where other groups show it, or where the layout has it. What PROJECT lists counts before what the code has
// besides. Types that are no objects, such as that of the manager's configuration file, count last.
func placeOf(p *plan.Plan, file *project.Project, r project.Resource) (string, error) {
	listed, others := listedNeighbours(p, file, r)
	if dirs := sameVersion(listed, r); len(dirs) > 0 {
		return dirs[0], nil
	}
	packages, err := projectfile.Packages(p, file)
	if err != nil {
		return "", err
	}
	code := codeNeighbours(packages, file, r)
	switch dirs := sameVersion(code, r); {
	case len(dirs) > 1:
		return "", severalPackages(r, dirs)
	case len(dirs) == 1:
		return dirs[0], nil
	}
	for _, there := range [][]neighbour{listed, code} {
		if dir := beside(there, file, r); dir != "" {
			return dir, nil
		}
	}
	if dirs := sameVersion(others, r); len(dirs) > 0 {
		return dirs[0], nil
	}
	return cmp.Or(beside(others, file, r), amongGroups(slices.Concat(listed, code, others), file, r), file.APIDir(r)), nil
}

// listedNeighbours are those in PROJECT: objects, those of the kind's very API group first, and other types.
func listedNeighbours(p *plan.Plan, file *project.Project, r project.Resource) (objects, others []neighbour) {
	var less []neighbour
	for _, o := range file.Resources {
		if !projectfile.Own(file, o) {
			continue
		}
		n := neighbour{dir: file.APIDir(o), version: o.Version, name: o.Group, sameGroup: o.Group == r.Group}
		switch {
		case !projectfile.Served(p.Root(), file, o):
			others = append(others, n)
		case o.QualifiedGroup() == r.QualifiedGroup():
			objects = append(objects, n)
		default:
			less = append(less, n)
		}
	}
	return append(objects, less...), others
}

// codeNeighbours are packages of the code, which PROJECT may list or not. Those without types yet count where no other
// one is of their group and version.
func codeNeighbours(packages []projectfile.Package, file *project.Project, r project.Resource) (all []neighbour) {
	same := projectfile.InGroup(packages, file, r)
	for _, of := range packages {
		full := func(o projectfile.Package) bool { return o.Objects && o.Group == of.Group && o.Version == of.Version }
		if !of.Objects && slices.ContainsFunc(packages, full) {
			continue
		}
		name, _, _ := strings.Cut(of.Group, ".")
		all = append(all, neighbour{dir: of.Dir, version: of.Version, name: name, sameGroup: slices.Contains(same, of)})
	}
	return all
}

// sameVersion are the folders of the kind's group and version.
func sameVersion(there []neighbour, r project.Resource) (dirs []string) {
	for _, n := range there {
		if n.sameGroup && n.version == r.Version && !slices.Contains(dirs, n.dir) {
			dirs = append(dirs, n.dir)
		}
	}
	return dirs
}

// beside is the folder of the kind's version beside another version of its group, or "". A folder with the group's name
// counts before others, which in the layout for several groups belong to none.
func beside(there []neighbour, file *project.Project, r project.Resource) string {
	found := ""
	for _, n := range there {
		dir, named := n.parent()
		switch {
		case !n.sameGroup || dir == "":
		case named:
			return path.Join(dir, r.Version)
		case !file.MultiGroup || r.Group == "":
			found = cmp.Or(found, path.Join(dir, r.Version))
		}
	}
	return found
}

// amongGroups is the folder of the kind's version where folders of other groups are, or "".
func amongGroups(there []neighbour, file *project.Project, r project.Resource) string {
	for _, n := range there {
		if dir, named := n.parent(); named && file.MultiGroup && r.Group != "" {
			return path.Join(path.Dir(dir), r.Group, r.Version)
		}
	}
	return ""
}

// severalPackages refuses to choose among packages of the code that PROJECT does not list.
func severalPackages(r project.Resource, dirs []string) error {
	return &report.Error{
		What:  fmt.Sprintf("the project's code has several packages of %s, and PROJECT lists none of them", r.APIVersion()),
		Where: dirs[0],
		Hint: fmt.Sprintf("nothing was changed; the others are %s. Correct +groupName in those of another group, or list a kind of the right one in PROJECT, with the path of its package",
			strings.Join(dirs[1:], ", ")),
	}
}
