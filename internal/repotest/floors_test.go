package repotest_test

import (
	"path"
	"strings"
	"testing"
)

// strangers are pairs of parts that do not know each other although one stands below the other.
var strangers = map[string]string{
	"internal/scaffold":   "internal/generate",
	"internal/clusterctl": "internal/generate",
	"project":             "internal/report",
}

// neighbours are modules whose code imports another module of ours, and why.
var neighbours = map[[2]string]string{
	{"release", "."}:               "what releases are called and how programs are compiled is the command's knowledge, and its packages write the image",
	{"test/browser", "."}:          "its pages are what it tests",
	{"test/cri", "cluster"}:        "the runtime of real nodes is what it tests",
	{"test/differential", "bench"}: "both build programs and fetch projects",
}

// A floor is a paragraph of floors.txt: patterns of packages, and how many floors of the module are above it.
type floor struct {
	house    string
	depth    int
	packages []string
}

// TestFloors: each package of each module has a place in floors.txt, and imports lower ones only.
func TestFloors(t *testing.T) {
	h := houses{readFloors(t), modulePaths(t)}
	used := map[string]bool{}
	for _, p := range packages(t) {
		of, pattern, ok := place(h.floors, p.dir)
		used[pattern] = true
		if p.written && ok {
			h.check(t, p, of)
		} else if p.written {
			t.Errorf("floors.txt has no place for %s", p.dir)
		}
	}
	for part, other := range strangers {
		for _, dir := range []string{part, other} {
			if _, _, ok := place(h.floors, dir); !ok {
				t.Errorf("strangers names %s, which has no floor", dir)
			}
		}
	}
	for _, f := range h.floors {
		for _, pattern := range f.packages {
			if !used[pattern] {
				t.Errorf("floors.txt lists %s, which has no Go files besides tests", pattern)
			}
		}
	}
}

// houses are the floors of all modules, and the modules' paths by their folders.
type houses struct {
	floors []floor
	paths  map[string]string
}

// check reports a package that is listed with another module's, and imports of what is not below it.
func (h houses) check(t *testing.T, p goPackage, of floor) {
	t.Helper()
	home := homeOf(h.paths, p.dir)
	if in, err := path.Match(of.house, home); err != nil || !in {
		t.Errorf("floors.txt has %s in the section of %s, but it belongs to the module in %s", p.dir, of.house, home)
	}
	for _, imp := range p.imports {
		dir, ours := folderOf(h.paths, imp)
		if !ours {
			continue
		}
		to, _, listed := place(h.floors, dir)
		there := homeOf(h.paths, dir)
		if home != there && neighbours[[2]string{home, there}] == "" {
			t.Errorf("%s imports %s, which is of another module", p.dir, dir)
		}
		if home == there && listed && (to.depth <= of.depth || strange(p.dir, dir)) {
			t.Errorf("%s imports %s, which is not below it", p.dir, dir)
		}
	}
}

// strange reports whether a part, or the one that it is a part of, is not to know another one.
func strange(from, to string) bool {
	for part, other := range strangers {
		if (from == part || strings.HasPrefix(from, part+"/")) && to == other {
			return true
		}
	}
	return false
}

// readFloors returns the floors of all modules in floors.txt.
func readFloors(t *testing.T) []floor {
	t.Helper()
	var floors []floor
	for _, house := range strings.Split(readText(t, "internal/repotest/floors.txt"), "\n## ")[1:] {
		name, rest, _ := strings.Cut(house, "\n")
		for depth, packages := range strings.Split(rest, "\n\n") {
			floors = append(floors, floor{name, depth, strings.Fields(packages)})
		}
	}
	return floors
}

// place returns the floor of a package and the pattern that gives it: its name if it is listed, else the first pattern
// that fits.
func place(floors []floor, dir string) (of floor, pattern string, ok bool) {
	for _, f := range floors {
		for _, p := range f.packages {
			if p == dir {
				return f, p, true
			}
			if fits, err := path.Match(p, dir); err == nil && fits && !ok {
				of, pattern, ok = f, p, true
			}
		}
	}
	return of, pattern, ok
}

// modulePaths returns the path of each module by its folder.
func modulePaths(t *testing.T) map[string]string {
	t.Helper()
	paths := map[string]string{}
	for _, dir := range modules(t) {
		paths[dir] = goMod(t, dir).Module.Mod.Path
	}
	return paths
}

// folderOf returns the folder of an imported package if it is ours: below the module whose path is the longest that it
// begins with.
func folderOf(paths map[string]string, imp string) (dir string, ours bool) {
	longest := 0
	for folder, module := range paths {
		if rest, ok := strings.CutPrefix(imp+"/", module+"/"); ok && len(module) > longest {
			longest, dir, ours = len(module), path.Join(folder, rest), true
		}
	}
	return dir, ours
}

// homeOf returns the folder of the module that a folder belongs to.
func homeOf(paths map[string]string, dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := paths[dir]; ok {
			break
		}
	}
	return dir
}
