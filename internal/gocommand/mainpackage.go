package gocommand

import (
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
)

// MainPackages are where a module may have its manager, relative to dir: cmd alone, as in scaffolded projects, or the
// module's own folder alone, or those of the folders in cmd that have a main package, as in older layouts. Files that
// build tags leave out do not count.
func MainPackages(dir string) []string {
	for _, pkg := range []string{"cmd", "."} {
		if buildsMain(filepath.Join(dir, pkg)) {
			return []string{pkg}
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "cmd"))
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() && buildsMain(filepath.Join(dir, "cmd", e.Name())) {
			found = append(found, path.Join("cmd", e.Name()))
		}
	}
	return found
}

// buildsMain reports whether a folder has a file of a main package that is built for Linux or here.
func buildsMain(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && isMain(filepath.Join(dir, name)) && isBuilt(dir, name) {
			return true
		}
	}
	return false
}

func isMain(file string) bool {
	source, err := finite.ReadFile(file)
	if err != nil {
		return false
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, source, parser.PackageClauseOnly)
	return err == nil && f.Name.Name == "main"
}

// isBuilt reports whether a file's name and build tags let it in. The compiler reports one that cannot be read.
func isBuilt(dir, name string) bool {
	for _, system := range []string{"linux", runtime.GOOS} {
		settings := build.Default
		settings.GOOS, settings.CgoEnabled = system, false
		if in, err := settings.MatchFile(dir, name); in || err != nil {
			return true
		}
	}
	return false
}
