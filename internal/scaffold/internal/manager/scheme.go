package manager

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// A Scheme is where the manager's scheme is filled.
type Scheme struct {
	File     string // relative to the project, with slashes
	Function string // that makes it, or "" where that does not matter
}

// SchemeOf finds where types are registered with the scheme of the manager in a file: there, or in the package of the
// project that the scheme comes from.
func SchemeOf(p *plan.Plan, module, mainFile string) (Scheme, error) {
	here := Scheme{File: mainFile}
	c, err := p.Find(mainFile)
	if err != nil || !c.There() {
		return here, err
	}
	origin, ok := wiring.SchemeOrigin(c.After())
	if !ok || wiring.HasMarker(c.After(), "scheme") {
		return here, nil
	}
	dir := path.Dir(mainFile)
	if origin.Package != "" {
		if dir, ok = strings.CutPrefix(origin.Package, module+"/"); !ok {
			return here, nil
		}
	}
	files, err := GoFiles(p, dir)
	if err != nil {
		return here, err
	}
	for _, o := range []wiring.Origin{origin, {}} { // a function may leave it to others of its package
		for _, file := range files {
			c, err := p.Find(file)
			if err != nil {
				return here, err
			}
			if function, ok := wiring.Makes(c.After(), o); ok {
				return Scheme{File: file, Function: function}, nil
			}
		}
	}
	return here, nil
}

// GoFiles lists the Go files of a package that are no tests, with their paths.
func GoFiles(p *plan.Plan, dir string) ([]string, error) {
	if !filepath.IsLocal(filepath.FromSlash(dir)) { // an import may have any path
		return nil, nil
	}
	entries, err := os.ReadDir(filepath.Join(p.Root(), filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileerror.Unreadable(dir, err)
	}
	var files []string
	for _, e := range entries {
		if name := e.Name(); path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") && !e.IsDir() {
			files = append(files, path.Join(dir, name))
		}
	}
	return files, nil
}
