package layout

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
	"github.com/slipway-dev/slipway/project"
)

// A layoutRule describes where the layouts have one sort of packages.
type layoutRule struct {
	dir     func(*project.Project, project.Resource) string
	name    func(*project.Project, project.Resource) string // of the package; nil if it keeps its name
	stems   func(project.Resource) []string                 // prefixes of the names of a kind's files
	suite   string                                          // a file that every package of the sort has
	divided bool                                            // the suite refers to its package's declarations
	folders bool                                            // packages in subfolders belong to it
}

var layoutRules = []layoutRule{
	{
		dir:     layoutAPIDir,
		stems:   func(r project.Resource) []string { return []string{r.SingularName() + "_types"} },
		folders: true,
	},
	{
		dir:   (*project.Project).ControllerDir,
		name:  (*project.Project).ControllerPackage,
		stems: controllerStems,
		suite: "suite_test.go",
	},
	{
		dir: (*project.Project).WebhookDir,
		stems: func(r project.Resource) []string {
			return []string{r.SingularName() + "_webhook", r.SingularName() + "_admission"}
		},
		suite:   "webhook_suite_test.go",
		divided: true,
	},
}

// layoutAPIDir is the layout's folder for r's types, whatever path PROJECT records.
func layoutAPIDir(p *project.Project, r project.Resource) string {
	r.Path = ""
	return p.APIDir(r)
}

func controllerStems(r project.Resource) []string {
	stems := []string{r.SingularName() + "_controller"}
	for _, c := range r.Controllers {
		stems = append(stems, strings.ReplaceAll(c.Name, "-", "_")+"_controller")
	}
	return stems
}

// findPackages finds the packages that are at the old layout's places.
func (m *moving) findPackages() error {
	for _, rule := range layoutRules {
		for _, dir := range m.dirs(rule) {
			if err := m.addPackage(rule, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// dirs returns the old layout's folders of one sort that move.
func (m *moving) dirs(rule layoutRule) []string {
	var dirs []string
	for _, r := range m.kinds {
		if rule.divided && m.project.WebhooksBesideTypes(r) {
			continue // they move with the types
		}
		if dir := rule.dir(m.from, r); !slices.Contains(dirs, dir) && dir != rule.dir(m.to, r) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// addPackage plans the move of the package in a folder, if a kind has a file there.
func (m *moving) addPackage(rule layoutRule, dir string) error {
	names := m.below(dir)
	var p *relocate.Package
	homes := map[string]*relocate.Part{} // by stem
	kinds := map[*relocate.Part][]project.Resource{}
	for _, r := range m.inOrder() {
		if rule.dir(m.from, r) != dir || !rule.hasFile(r, names) {
			continue
		}
		if p == nil {
			p = m.packageIn(dir, names)
		}
		part := m.partFor(rule, p, r)
		kinds[part] = append(kinds[part], r)
		for _, stem := range rule.stems(r) {
			homes[stem] = part
		}
	}
	if p == nil || len(p.Parts) == 1 && p.Parts[0].Dir == dir {
		return nil
	}
	if rule.folders && len(p.Parts) > 1 {
		return &report.Error{
			Class: report.BadProject,
			What:  fmt.Sprintf("the package has kinds of several groups, which must move to %s and %s", p.Parts[0].Dir, p.Parts[1].Dir), Where: dir,
			Hint: "a package of types belongs to one group and version; nothing was changed",
		}
	}
	rule.assign(p, names, homes)
	m.noteSuite(rule, p, kinds)
	if rule.folders {
		renameApplyConfigurations(p)
	}
	m.set.Packages = append(m.set.Packages, p)
	m.checkPlaces(p)
	m.checkModules(p)
	return nil
}

// inOrder lists kinds with types of the project first: the first kind in a package gets the files that belong to no
// kind.
func (m *moving) inOrder() []project.Resource {
	all := slices.Clone(m.kinds)
	slices.SortStableFunc(all, func(a, b project.Resource) int {
		switch {
		case (a.API == nil) == (b.API == nil):
			return 0
		case a.API != nil:
			return -1
		}
		return 1
	})
	return all
}

func (rule layoutRule) hasFile(r project.Resource, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(rule.stems(r), func(stem string) bool { return hasStem(name, stem) })
	})
}

// hasStem reports whether a Go file is stem.go, or begins with stem_, as a test does.
func hasStem(name, stem string) bool {
	rest, ok := strings.CutPrefix(name, stem)
	return ok && (rest == ".go" || strings.HasPrefix(rest, "_")) && path.Ext(name) == ".go"
}

func (m *moving) packageIn(dir string, names []string) *relocate.Package {
	p := &relocate.Package{Dir: dir, Import: m.Code().ImportPath(m.project.Repo, dir), Name: path.Base(dir)}
	for _, name := range names {
		if path.Dir(name) == "." && path.Ext(name) == ".go" {
			if clause := m.clause(path.Join(dir, name)); clause != "" {
				p.Name = strings.TrimSuffix(clause, "_test")
				break
			}
		}
	}
	return p
}

// clause returns the name in a Go file's package clause, or "".
func (m *moving) clause(file string) string {
	text, err := m.Before().ReadFile(file)
	if err != nil {
		return ""
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return parsed.Name.Name
}

// partFor returns the part of p for r's files, and adds it if it is missing.
func (m *moving) partFor(rule layoutRule, p *relocate.Package, r project.Resource) *relocate.Part {
	dir := rule.dir(m.to, r)
	if i := slices.IndexFunc(p.Parts, func(part *relocate.Part) bool { return part.Dir == dir }); i >= 0 {
		return p.Parts[i]
	}
	part := &relocate.Part{Dir: dir, Import: m.Code().ImportPath(m.project.Repo, dir), Name: p.Name, Alias: r.ImportAlias()}
	if rule.name != nil {
		part.Name, part.Alias = rule.name(m.to, r), m.to.ControllerImportAlias(r)
	}
	p.Parts = append(p.Parts, part)
	return part
}

// assign distributes the files to the parts. The longest matching stem decides.
func (rule layoutRule) assign(p *relocate.Package, names []string, homes map[string]*relocate.Part) {
	for _, name := range names {
		if !rule.folders && staysBelow(name, names) {
			continue
		}
		part, longest := p.Parts[0], ""
		for stem, home := range homes {
			if hasStem(name, stem) && len(stem) > len(longest) {
				part, longest = home, stem
			}
		}
		part.Files = append(part.Files, name)
		if name == rule.suite {
			for _, other := range p.Parts[1:] {
				other.Copies = append(other.Copies, name)
			}
		}
	}
}

// renameApplyConfigurations renames the folder of generated apply configurations, which is named like the parent of the
// types' folder.
func renameApplyConfigurations(p *relocate.Package) {
	part := p.Parts[0]
	from := path.Join("applyconfiguration", path.Base(path.Dir(p.Import)))
	to := path.Join("applyconfiguration", path.Base(path.Dir(part.Import)))
	if from != to {
		part.Renames = map[string]string{from: to}
	}
}

// staysBelow reports whether a file is in a subfolder that has Go files of its own, which stays in place.
func staysBelow(name string, names []string) bool {
	folder, _, below := strings.Cut(name, "/")
	if !below || folder == "testdata" {
		return false
	}
	return slices.ContainsFunc(names, func(other string) bool {
		return strings.HasPrefix(other, folder+"/") && path.Ext(other) == ".go"
	})
}

// checkPlaces refuses a new folder that has a package of another name.
func (m *moving) checkPlaces(p *relocate.Package) {
	for _, part := range p.Parts {
		for _, name := range m.below(part.Dir) {
			file := path.Join(part.Dir, name)
			if part.Dir == p.Dir || path.Dir(name) != "." || path.Ext(name) != ".go" {
				continue
			}
			if clause := strings.TrimSuffix(m.clause(file), "_test"); clause != part.Name {
				m.Refuse(&report.Error{
					Class: report.Conflict,
					What:  fmt.Sprintf("the new folder of %s holds the package %s", p.Dir, clause), Where: file,
					Hint: "nothing was changed; move that package away, or give it the name " + part.Name,
				})
				break
			}
		}
	}
}

// findFolders finds a top folder that the move leaves empty: in older layouts api/ becomes apis/, and Dockerfiles name
// it.
func (m *moving) findFolders() error {
	for _, p := range m.set.Packages {
		from, to := topFolder(p.Dir), topFolder(p.Parts[0].Dir)
		if from != to && m.project.Older() && !m.staysIn(from) {
			m.set.Folders = append(m.set.Folders, relocate.Folder{From: from, To: to})
			return nil
		}
	}
	return nil
}

func topFolder(dir string) string {
	top, _, _ := strings.Cut(dir, "/")
	return top
}

// staysIn reports whether a file stays in the folder.
func (m *moving) staysIn(folder string) bool {
	for _, name := range m.below(folder) {
		for _, target := range m.set.Targets(path.Join(folder, name)) {
			if topFolder(target.Path) == folder {
				return true
			}
		}
	}
	return false
}
