package load_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// listing is what a loader says of ./...: for each package its folder, its files, and
// where its imports lead.
type listing map[string]listed

type listed struct {
	Dir     string
	Files   []string
	Imports map[string]string
}

// byGo is the listing that the go command makes, once for each module below dir. Where
// several have packages with the same path, the first one counts.
func byGo(t *testing.T, dir string) listing {
	t.Helper()
	starts := []string{dir}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err == nil && e.IsDir() && (e.Name() == ".git" || e.Name() == "modcache"):
			return filepath.SkipDir
		case err == nil && !e.IsDir() && e.Name() == "go.mod":
			starts = append(starts, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := make(listing)
	for _, start := range starts {
		config := packages.Config{
			Dir: start, Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports,
			BuildFlags: []string{"-tags=" + load.GeneratedTag},
		}
		found, err := packages.Load(&config, "./...")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			if _, known := all[p.PkgPath]; known || len(p.GoFiles) == 0 {
				continue
			}
			one := listed{Dir: filepath.Dir(p.GoFiles[0]), Files: p.GoFiles, Imports: make(map[string]string)}
			for path, target := range p.Imports {
				if len(target.GoFiles) > 0 && len(target.Errors) == 0 && path != "C" { // an error may go with the files of the importer
					one.Imports[path] = filepath.Dir(target.GoFiles[0])
				}
			}
			slices.Sort(one.Files)
			all[p.PkgPath] = one
		}
	}
	return all
}

// byUs is the loader's listing, with the imports that the go command knows.
func byUs(t *testing.T, dir string, byGo listing) listing {
	t.Helper()
	roots, err := newLoader(t, dir, nil).Roots(t.Context(), "./...")
	if err != nil {
		t.Fatal(err)
	}
	all := make(listing)
	for _, p := range roots {
		one := listed{Dir: p.Dir, Files: p.GoFiles(), Imports: make(map[string]string)}
		for path := range byGo[p.Path].Imports {
			if path == "unsafe" {
				one.Imports[path] = byGo[p.Path].Imports[path]
				continue
			}
			target, err := p.Import(path)
			if err != nil {
				one.Imports[path] = err.Error()
				continue
			}
			one.Imports[path] = target.Dir
		}
		all[p.Path] = one
	}
	return all
}

// TestSameAsGo: the loader finds the packages, files and imports that the go command finds.
func TestSameAsGo(t *testing.T) {
	all := maps.Clone(trees)
	maps.Copy(all, workspaces)
	if len(all) != len(trees)+len(workspaces) {
		t.Fatal("two projects have one name")
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, c.archive)
			t.Setenv("GONOSUMDB", "*")
			t.Setenv("GOTOOLCHAIN", "local")
			for name, value := range c.env {
				switch name {
				case "GOENV":
					value = filepath.Join(dir, value)
				case "GOMODCACHE":
					value = dir + "/" + value
				}
				t.Setenv(name, value)
			}
			sameAsGo(t, dir)
		})
	}
}

func sameAsGo(t *testing.T, dir string) {
	t.Helper()
	want := byGo(t, dir)
	got := byUs(t, dir, want)
	if len(want) == 0 {
		t.Error("the go command has found nothing")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%d packages; ours differ (+):\n%.5000s", len(want), diff)
	}
}

// TestSameAsGoInProjects does the same in the projects whose folders SLIPWAY_TREES
// lists. They have to be complete: with go.sum, and with their modules downloaded.
func TestSameAsGoInProjects(t *testing.T) {
	projects := filepath.SplitList(os.Getenv("SLIPWAY_TREES"))
	if len(projects) == 0 {
		t.Skip("SLIPWAY_TREES is not set")
	}
	for _, dir := range projects {
		t.Run(filepath.Base(dir), func(t *testing.T) { sameAsGo(t, dir) })
	}
}

// TestOutsideWorkspace: a copy of a module beside a workspace that does not know it
// is a mistake, as it is for the go command, and never taken for part of the module.
func TestOutsideWorkspace(t *testing.T) {
	dir := tree(t, `
-- go.work --
go 1.26
use .
-- go.mod --
module example.com/m
go 1.26
-- a/a.go --
package a
-- copy/go.mod --
module example.com/m
go 1.26
-- copy/a/a.go --
package a
`)
	_, err := newLoader(t, dir, nil).Roots(t.Context(), "./...")
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "copy")) || !strings.Contains(err.Error(), "not in the workspace") {
		t.Errorf("error %v", err)
	}
	if roots, err := newLoader(t, dir, nil).Roots(t.Context(), "./a"); err != nil || len(roots) != 1 {
		t.Errorf("%d packages, %v", len(roots), err)
	}
}
