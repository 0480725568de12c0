package load

import (
	"bytes"
	"go/version"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// graph finds which versions of modules are in use, by minimal version selection: of all versions that go.mod files
// require, the highest one. It reads as many of them as the go command does: for a module that supports pruning (go
// 1.17) not those of the modules that it requires, unless the modules worked on require these too.
type graph struct {
	modules  *modules
	mains    map[string]bool // module paths
	selected map[string]string
	required map[module.Version]requirements
	visited  map[visit]bool
	// incomplete is set when the go.mod of a version is not on this machine.
	incomplete bool
}

// visit is a look at a module's requirements, and how far these are followed.
type visit struct {
	module.Version
	follow follow
}

type follow byte

const (
	toNone follow = iota // unless the module supports no pruning
	toNext
	toAll
)

// requirements are those of a go.mod.
type requirements struct {
	modules []module.Version
	pruned  bool
}

func requirementsOf(file *modfile.File) requirements {
	r := requirements{pruned: isComplete(file)}
	for _, one := range file.Require {
		r.modules = append(r.modules, one.Mod)
	}
	return r
}

// selectVersions returns the versions in use by the module paths. It is not ok when a go.mod is missing.
func (m *modules) selectVersions(files []*modfile.File) (selected map[string]string, ok bool) {
	g := graph{
		modules: m, mains: make(map[string]bool), selected: make(map[string]string),
		required: make(map[module.Version]requirements), visited: make(map[visit]bool),
	}
	var roots []module.Version
	for _, file := range files {
		root := module.Version{Path: file.Module.Mod.Path}
		g.mains[root.Path] = true
		g.required[root] = g.allowed(requirementsOf(file))
		roots = append(roots, root)
	}
	for _, root := range roots {
		g.visit(root, toNext)
	}
	g.followSelected(roots)
	return g.selected, !g.incomplete
}

// visit takes note of a module's requirements.
func (g *graph) visit(m module.Version, follow follow) {
	v := visit{m, follow}
	if g.visited[v] {
		return
	}
	g.visited[v] = true
	r := g.requirementsOf(m)
	for _, one := range r.modules {
		if !g.mains[one.Path] && (g.selected[one.Path] == "" || semver.Compare(one.Version, g.selected[one.Path]) > 0) {
			g.selected[one.Path] = one.Version
		}
	}
	next := toNone
	if follow == toAll || !r.pruned {
		next = toAll
	}
	if follow == toNone && r.pruned {
		return
	}
	for _, one := range r.modules {
		g.visit(one, next)
	}
}

// followSelected visits the modules of which a higher version was selected than is required by the modules worked on,
// or by one that was visited here: it may import more than what the requirements account for.
func (g *graph) followSelected(roots []module.Version) {
	todo := slices.Clone(roots)
	seen := make(map[module.Version]bool)
	for len(todo) > 0 {
		for _, m := range todo {
			g.visit(m, toNext)
			seen[m] = true
		}
		todo = nil
		for m := range seen {
			for _, one := range g.required[m].modules {
				now := module.Version{Path: one.Path, Version: g.selected[one.Path]}
				if now != one && !seen[now] && !g.mains[now.Path] {
					todo = append(todo, now)
				}
			}
		}
	}
}

// requirementsOf are those of a version of a module.
func (g *graph) requirementsOf(m module.Version) requirements {
	if r, known := g.required[m]; known {
		return r
	}
	file := g.modules.modFileOfVersion(m)
	if file == nil {
		g.incomplete = g.incomplete || !g.mains[m.Path]
		file = &modfile.File{}
	}
	r := g.allowed(requirementsOf(file))
	g.required[m] = r
	return r
}

// allowed leaves out the versions that a go.mod of the modules worked on excludes.
func (g *graph) allowed(r requirements) requirements {
	r.modules = slices.DeleteFunc(r.modules, func(m module.Version) bool { return g.modules.excluded[m] || m.Path == "go" || m.Path == "toolchain" })
	return r
}

// modFileOfVersion is the go.mod of a module, or of what replaces it; nil when it is not on this machine. The module
// cache has more of these files than of modules.
func (m *modules) modFileOfVersion(mod module.Version) *modfile.File {
	at := m.location(mod)
	name := filepath.Join(at.dir, "go.mod")
	if at.dir == "" {
		name = m.cachedModFile(at.mod)
	}
	l := m.loader
	data, err := l.inputsAt(filepath.Dir(name)).ReadFile(name)
	if err != nil {
		return nil
	}
	if !bytes.Contains(data, []byte("require")) {
		return &modfile.File{}
	}
	file, err := modfile.ParseLax(name, data, nil)
	if err != nil {
		return nil
	}
	return file
}

// cachedModFile is where the module cache has a version's go.mod; "" when its name is malformed.
func (m *modules) cachedModFile(mod module.Version) string {
	path, err := module.EscapePath(mod.Path)
	if err != nil {
		return ""
	}
	version, err := module.EscapeVersion(mod.Version)
	if err != nil {
		return ""
	}
	return filepath.Join(m.loader.env.modcache(), "cache", "download", filepath.FromSlash(path), "@v", version+".mod")
}

// isGoAtLeast reports whether a go directive is there and asks for a version or a later one.
func isGoAtLeast(directive *modfile.Go, least string) bool {
	return directive != nil && version.Compare("go"+directive.Version, least) >= 0
}
