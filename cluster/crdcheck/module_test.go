package crdcheck_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/cluster/crdcheck"
)

// TestKubernetesVersion keeps the stated version in step with the libraries.
func TestKubernetesVersion(t *testing.T) {
	content, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.ParseLax("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if r.Mod.Path == "k8s.io/kubernetes" && r.Mod.Version != "v"+crdcheck.Kubernetes {
			t.Errorf("Kubernetes is %s, go.mod has %s", crdcheck.Kubernetes, r.Mod.Version)
		}
	}
}

// TestOthersStandAlone: the cluster program does without the checker, so a change of the checker does not have it built
// anew.
func TestOthersStandAlone(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == filepath.Join("..", "crdcheck") || path == filepath.Join("..", "cmd", "slipway-check")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return nil // testdata
		}
		for _, i := range f.Imports {
			if strings.Trim(i.Path.Value, `"`) == "github.com/slipway-dev/slipway/cluster/crdcheck" {
				t.Errorf("%s imports the checker", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStandsAlone keeps the checker small: it is built without the rest of the module, and rebuilt only when these two
// folders change.
func TestStandsAlone(t *testing.T) {
	const own = "github.com/slipway-dev/slipway/cluster/"
	for _, folder := range []string{".", "../cmd/slipway-check"} {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatal("no files in", folder, err)
		}
		for _, path := range paths {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range f.Imports {
				if other, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), own); ok && other != "crdcheck" {
					t.Errorf("%s imports %s", path, other)
				}
			}
		}
	}
}
