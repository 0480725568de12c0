package newapi

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// TypesDir returns the folder of a kind's types. It prefers, in this order: existing types that PROJECT does not list,
// the package of the group and version, a folder beside another version or group, and the layout's folder. Two types of
// one version would be two schemas of it in the CRD.
func TypesDir(p *plan.Plan, file *project.Project, r project.Resource) (string, error) {
	if recorded := file.Lookup(r.Group, r.Version, r.Kind); recorded != nil && file.Own(*recorded) {
		return file.APIDir(*recorded), nil
	}
	found, err := projectfile.Declarations(p, file, r)
	if err != nil {
		return "", err
	}
	found = slices.DeleteFunc(found, func(k codebase.Kind) bool { return k.Package.Version != r.Version })
	switch len(found) {
	case 0:
	case 1:
		return found[0].Package.Dir, nil
	default:
		return "", unlisted(r, found)
	}
	all, err := neighbours(p, file, r)
	if err != nil {
		return "", err
	}
	if dir, err := packageOf(all, r); dir != "" || err != nil {
		return dir, err
	}
	dir, err := beside(all, file, r)
	return cmp.Or(dir, file.APIDir(r)), err
}

// A neighbour is an existing package of kinds that may show where a new kind belongs.
type neighbour struct {
	codebase.Package
	rank      int    // see below
	name      string // the group's name in its folder, if any
	sameGroup bool
}

// Ranks of neighbours: PROJECT lists one of their kinds, they have kinds, or they have no types yet.
const (
	hasListed = iota
	hasKinds
	isEmpty
)

// neighbours returns the packages of API groups by rank. It leaves out packages whose types are no kinds, such as the
// manager's configuration file.
func neighbours(p *plan.Plan, file *project.Project, r project.Resource) (all []neighbour, err error) {
	packages, err := p.Code().Packages()
	groups := projectfile.GroupsOf(file, r)
	for _, of := range packages {
		n := neighbour{Package: of, rank: isEmpty, sameGroup: slices.Contains(groups, of.Group)}
		n.name, _, _ = strings.Cut(of.Group, ".")
		for _, k := range of.Kinds {
			n.rank = min(n.rank, hasKinds)
			if entry := p.Code().KindIn(of.Dir, k.Name).Entry; entry != nil {
				n.rank, n.name, n.sameGroup = hasListed, entry.Group, n.sameGroup || entry.Group == r.Group
			}
		}
		ofGroup := n.rank == hasListed || of.Group != "" && (n.rank == hasKinds || len(of.Structs) == 0)
		if ofGroup && project.ValidateVersion(of.Version) == nil {
			all = append(all, n)
		}
	}
	slices.SortStableFunc(all, func(a, b neighbour) int { return a.rank - b.rank })
	return all, err
}

// packageOf returns the folder of the kind's group and version, or "". It is an error if several qualify and PROJECT
// lists none.
func packageOf(all []neighbour, r project.Resource) (string, error) {
	var same []neighbour
	for _, n := range all {
		if n.sameGroup && n.Version == r.Version && (len(same) == 0 || n.rank == same[0].rank) {
			same = append(same, n)
		}
	}
	switch {
	case len(same) == 0:
		return "", nil
	case len(same) > 1 && same[0].rank != hasListed:
		return "", severalPackages(r, same)
	}
	return same[0].Dir, nil
}

// beside returns the folder for the kind's version beside another version of its group, or among the folders of other
// groups, or "". A folder with the group's name has priority over others. It is an error if groups are in several
// folders.
func beside(all []neighbour, file *project.Project, r project.Resource) (string, error) {
	var named, other, among string
	var apart []string // further folders that contain groups
	rank := 0
	for _, n := range all {
		dir, inVersion := strings.CutSuffix(n.Dir, "/"+n.Version)
		grouped := inVersion && n.name != "" && path.Base(dir) == n.name
		switch {
		case !inVersion:
		case n.sameGroup && grouped:
			named = cmp.Or(named, path.Join(dir, r.Version))
		case n.sameGroup && (!file.MultiGroup || r.Group == ""):
			other = cmp.Or(other, path.Join(dir, r.Version))
		case grouped && file.MultiGroup && r.Group != "":
			folder := path.Join(path.Dir(dir), r.Group, r.Version)
			if among == "" {
				among, rank = folder, n.rank
			} else if folder != among && n.rank == rank && !slices.Contains(apart, folder) {
				apart = append(apart, folder)
			}
		}
	}
	if found := cmp.Or(named, other); found != "" || len(apart) == 0 {
		return cmp.Or(found, among), nil
	}
	return "", &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf("the project has groups in several folders, and %s could go to each", r.Group), Where: strings.Join(append([]string{among}, apart...), ", "),
		Hint: fmt.Sprintf("nothing was changed; make the package in the folder that is meant, with a file doc.go that has the marker +groupName=%s, and run the command again", r.QualifiedGroup()),
	}
}

// unlisted is the refusal of a kind whose type the code has several times and PROJECT does not list.
func unlisted(r project.Resource, found []codebase.Kind) error {
	return &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf("the project's code has the type of %s %s already, and PROJECT does not list it", r.APIVersion(), r.Kind),
		Where: found[0].Where(),
		Hint:  "nothing was changed; " + found[1].Where() + " declares it, too, and a CRD has a version once: remove one of them",
	}
}

// severalPackages is the refusal to choose among packages that PROJECT does not list.
func severalPackages(r project.Resource, all []neighbour) error {
	var others []string
	for _, n := range all[1:] {
		others = append(others, n.Dir)
	}
	return &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf("the project's code has several packages of %s, and PROJECT lists none of them", r.APIVersion()),
		Where: all[0].Dir,
		Hint: fmt.Sprintf("nothing was changed; the others are %s. Correct +groupName in those of another group, or list a kind of the right one in PROJECT, with the path of its package",
			strings.Join(others, ", ")),
	}
}

// inExistingGroup returns the kind in the API group that its package declares or, for a new package, that of another
// version.
func inExistingGroup(p *plan.Plan, file *project.Project, r project.Resource) project.Resource {
	group := p.Code().Package(file.APIDir(r)).Group
	for _, o := range file.Resources {
		if o.Group != r.Group || !file.Own(o) {
			continue
		}
		if group = cmp.Or(group, o.QualifiedGroup()); group == o.QualifiedGroup() { // as PROJECT has it already
			r.Domain = o.Domain
			return r.InAPIGroup(group)
		}
	}
	if domain, ok := strings.CutPrefix(group, r.Group+"."); ok && r.Group != "" {
		r.Domain = domain
	} else if group == r.Group && group != "" {
		r.Domain = ""
	}
	return r.InAPIGroup(group)
}

// doubledDomain explains the API group if the group already ends with the project's domain; else "".
func (a *planner) doubledDomain() string {
	group, domain := a.resource.Group, a.resource.Domain
	if a.resource.APIGroup != "" || domain == "" || group != domain && !strings.HasSuffix(group, "."+domain) {
		return ""
	}
	text := "the API group is " + a.resource.QualifiedGroup() + ": the project's domain follows the group"
	if short := strings.TrimSuffix(group, "."+domain); short != group {
		text += "; " + group + " has the flag --group " + short
	}
	return text
}

// dotlessGroupWarning warns of a group without a dot, which API servers refuse in a definition; else "".
func (a *planner) dotlessGroupWarning() string {
	group := a.resource.QualifiedGroup()
	if strings.Contains(group, ".") || !a.options.Resource {
		return ""
	}
	return fmt.Sprintf("the API group is %q, and API servers refuse a definition whose group has no dot: add a line such as domain: example.com to PROJECT, "+
		"or choose a group such as %s", group, strings.Trim(a.resource.Group+".example.com", "."))
}
