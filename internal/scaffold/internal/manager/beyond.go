package manager

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// mostPackages bounds how many packages of a project are looked at for the code of its manager.
const mostPackages = 300

// hasPlace reports whether a file has a place for what sets up controllers, or makes the manager that they are for.
func hasPlace(src []byte) bool {
	if wiring.HasMarker(src, "builder") || bytes.Contains(src, []byte("NewManager(")) {
		return true
	}
	_, ok := wiring.SetUpPlace(src)
	return ok
}

// beyondMain is the one file with a manager's code in the packages of the project that its main files import, directly
// or through others: it has the insertion point or, in a project without one, makes a manager and sets up controllers.
// It is "" without one. Several are all those that could be it.
func beyondMain(p *plan.Plan, module string, mains []*plan.File) (name string, several []string, err error) {
	files, err := imported(p, module, mains)
	if err != nil {
		return "", nil, err
	}
	for _, is := range []func([]byte) bool{isMarked, makesAndSetsUp} {
		var found []string
		for _, c := range files {
			if is(c.After()) {
				found = append(found, c.Path())
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil, nil
		default:
			return "", found, nil
		}
	}
	return "", nil, nil
}

func isMarked(src []byte) bool { return wiring.HasMarker(src, "builder") }

func makesAndSetsUp(src []byte) bool {
	_, ok := wiring.SetUpPlace(src)
	return ok && bytes.Contains(src, []byte("NewManager("))
}

// imported are the Go files of the project's packages that files import, the nearest first.
func imported(p *plan.Plan, module string, files []*plan.File) (all []*plan.File, err error) {
	var packages []string
	add := func(c *plan.File) {
		for _, dir := range packagesOf(module, c.After()) {
			if !slices.Contains(packages, dir) && len(packages) < mostPackages {
				packages = append(packages, dir)
			}
		}
	}
	for _, c := range files {
		add(c)
	}
	for i := 0; i < len(packages); i++ {
		names, err := GoFiles(p, packages[i])
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			c, err := p.Find(name)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
			add(c)
		}
	}
	return all, nil
}

// packagesOf are the folders of the packages of a module that a file imports, sorted.
func packagesOf(module string, src []byte) (dirs []string) {
	for pkg := range gofile.ImportsOf(src) {
		if dir, ok := strings.CutPrefix(pkg, module+"/"); ok && module != "" {
			dirs = append(dirs, path.Clean(dir))
		}
	}
	slices.Sort(dirs)
	return dirs
}
