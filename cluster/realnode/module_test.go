package realnode_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const own = "github.com/slipway-dev/slipway/cluster/"

// Packages of the module by the programs that they are in. The programs are built apart from each other, when one of
// their own folders has changed: internal/program of the command has the same lists.
var (
	nodeOnly = []string{"realnode/capability", "realnode/cri", "realnode/imagestore", "realnode/isolated", "realnode/keeper", "realnode/kubelet", "realnode/plain", "realnode/podnet", "realnode/process", "realnode/seccomp"}
	shared   = []string{"realnode/fdpass", "realnode/containerinit", "realnode/nodeconfig", "realnode/preflight", "realnode/removetree", "realnode/subid", "realnode/wire", "registry/peer", "registry/places", "version"}
	programs = []string{"cmd/slipway-node", "cmd/slipway-container"}
)

// TestClusterNeedsNoKubelet: nobody has to compile a kubelet to have a cluster with simulated nodes.
func TestClusterNeedsNoKubelet(t *testing.T) {
	each(t, func(folder, path, imported string) {
		if slices.Contains(nodeOnly, imported) && !slices.Contains(nodeOnly, folder) && !slices.Contains(programs, folder) {
			t.Errorf("%s imports %s", path, imported)
		}
	})
}

// TestNodeStandsAlone: the program of real nodes consists of these folders, and is built anew when one of them changes.
func TestNodeStandsAlone(t *testing.T) {
	each(t, func(folder, path, imported string) {
		if slices.Contains(slices.Concat(nodeOnly, shared, programs), folder) && !slices.Contains(slices.Concat(nodeOnly, shared), imported) {
			t.Errorf("%s imports %s", path, imported)
		}
	})
}

// each calls f with each import within the module, tests left out.
func each(t *testing.T, f func(folder, path, imported string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel("..", filepath.Dir(path))
		for _, i := range file.Imports {
			if imported, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), own); ok {
				f(filepath.ToSlash(folder), path, imported)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
