package generate

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/bench/build"
)

// golden is an input of our generators' own tests with what they expect.
type golden struct {
	pkg     string // folder of the generator's package, below internal/generate/internal
	options string // of the generator, with its name
	input   string // package pattern, relative to pkg
	want    string // folder of the golden files, relative to pkg
}

// goldens are all of them; those that stand beside their input are found.
func goldens(t *testing.T, root string) []golden {
	all := []golden{
		{"crd", "crd", "./testdata/features/...", "testdata/golden/features"},
		{"crd", "crd:maxDescLen=20,generateEmbeddedObjectMeta=true,headerFile=testdata/header.txt,year=2031,deprecatedV1beta1CompatibilityPreserveUnknownFields=false", "./testdata/features/...", "testdata/golden/options"},
		{"crd", "crd:maxDescLen=0", "./testdata/cronjob", "testdata/golden/cronjob"},
	}
	beside := []struct{ pkg, file, options string }{
		{"deepcopy", "zz_generated.deepcopy.go", "object:headerFile=testdata/header.txt,year=2026"},
		{"rbac", "role.yaml", "rbac:roleName=manager-role"},
		{"webhook", "manifests.yaml", "webhook"},
	}
	for _, b := range beside {
		dirs := foldersWith(t, filepath.Join(root, "internal", "generate", "internal", b.pkg), b.file)
		if len(dirs) == 0 {
			t.Errorf("no golden file %s of %s", b.file, b.pkg)
		}
		for _, dir := range dirs {
			all = append(all, golden{b.pkg, b.options, "./" + filepath.ToSlash(dir), dir})
		}
	}
	return all
}

// TestGoldenFilesAreThePeers runs controller-gen on the inputs of our generators'
// own tests: their golden files must be what it writes.
func TestGoldenFilesAreThePeers(t *testing.T) {
	root, err := build.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := controllerGen(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range goldens(t, root) {
		t.Run(g.pkg+"/"+filepath.ToSlash(g.want), func(t *testing.T) {
			g.compare(t, peer, filepath.Join(root, "internal", "generate", "internal", g.pkg))
		})
	}
}

// foldersWith lists the folders below dir that hold a file of the name, relative
// to dir.
func foldersWith(t *testing.T, dir, name string) []string {
	t.Helper()
	var found []string
	for file := range readTree(t, dir) {
		if filepath.Base(file) == name {
			found = append(found, filepath.Dir(file))
		}
	}
	return found
}

// variants is how often controller-gen is asked: where markers of several kinds
// make one list, its order changes from run to run, and any of them will do.
const variants = 12

// compare runs controller-gen in dir until each file that it writes was, in some
// run, the golden one.
func (g golden) compare(t *testing.T, peer, dir string) {
	differing := map[string]string{} // file → difference, in the last run
	for run := range variants {
		out := t.TempDir()
		for name, want := range g.runPeer(t, peer, dir, out) {
			if _, open := differing[name]; !open && run > 0 {
				continue
			}
			got, err := readGolden(filepath.Join(dir, g.want, name))
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(g.want) == "instances" { // whose type arguments controller-gen leaves out
				got = withoutArguments(t, got)
			}
			delete(differing, name)
			if !bytes.Equal(got, want) {
				differing[name] = diff(filepath.Join(out, name), filepath.Join(dir, g.want, name))
			}
		}
		if len(differing) == 0 {
			return
		}
	}
	for name, d := range differing {
		t.Errorf("%s differs in each of %d runs:\n%s", name, variants, d)
	}
}

// runPeer runs controller-gen in dir and returns what it wrote to out.
func (g golden) runPeer(t *testing.T, peer, dir, out string) map[string][]byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), peer, g.options, "paths="+g.input, "output:dir="+out)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, output)
	}
	written := readTree(t, out)
	if len(written) == 0 {
		t.Fatalf("%s wrote nothing", cmd)
	}
	return written
}

// readGolden reads a file, or its compressed form.
func readGolden(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return content, err
	}
	file, err := os.Open(path + ".gz")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unzipped)
}
