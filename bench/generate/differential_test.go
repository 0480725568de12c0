package main

import (
	"bytes"
	"context"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/bench/build"
)

var projectFlag = flag.String("project", "", "the project to compare on; examples/cronjob when empty")

// TestSameAsControllerGen runs controller-gen and `slipway generate` on copies of
// the example from which everything generated was removed, and compares all
// files, byte for byte but for the annotation that tells the tool's version.
func TestSameAsControllerGen(t *testing.T) {
	ctx := t.Context()
	programs, err := buildBoth(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := *projectFlag
	if project == "" {
		if project, err = cronJob(ctx); err != nil {
			t.Fatal(err)
		}
	}
	ours := generateIn(t, project, func(dir string) *exec.Cmd { return programs.slipwayGenerate(ctx, dir) })
	peers := generateIn(t, project, func(dir string) *exec.Cmd { return programs.controllerGen(ctx, dir) })
	compareTrees(t, ours, peers)
}

// generateIn runs a command on a copy of the project without generated files. It
// must succeed and write DeepCopy methods, a CRD and a role.
func generateIn(t *testing.T, project string, command func(dir string) *exec.Cmd) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	if err := copyProject(project, dir); err != nil {
		t.Fatal(err)
	}
	if err := removeGenerated(dir); err != nil {
		t.Fatal(err)
	}
	cmd := command(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	files, err := generatedFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"zz_generated.deepcopy.go", filepath.Join("config", "crd", "bases"), filepath.Join("config", "rbac", "role.yaml")} {
		if !strings.Contains(strings.Join(files, "\n"), part) {
			t.Fatalf("%s wrote no %s, only %v", cmd, part, files)
		}
	}
	return dir
}

// compareTrees tells every file that is not the same in both folders.
func compareTrees(t *testing.T, ours, peers string) {
	t.Helper()
	mine, theirs := readTree(t, ours), readTree(t, peers)
	for name, content := range theirs {
		got, found := mine[name]
		switch {
		case !found:
			t.Errorf("%s: not written by us", name)
		case !bytes.Equal(withoutVersion(got), withoutVersion(content)):
			t.Errorf("%s differs:\n%s", name, diff(filepath.Join(peers, name), filepath.Join(ours, name)))
		}
	}
	for name := range mine {
		if _, found := theirs[name]; !found {
			t.Errorf("%s: written by us only", name)
		}
	}
}

func readTree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	tree := make(map[string][]byte)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		tree[name], err = os.ReadFile(filepath.Join(dir, name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// withoutVersion blanks the value of the version annotation; the line itself
// must be there on both sides.
func withoutVersion(content []byte) []byte {
	const annotation = "    controller-gen.kubebuilder.io/version: "
	lines := bytes.SplitAfter(content, []byte("\n"))
	for i, line := range lines {
		if bytes.HasPrefix(line, []byte(annotation)) {
			lines[i] = []byte(annotation + "\n")
		}
	}
	return bytes.Join(lines, nil)
}

// diff shows the first lines in which two files differ.
func diff(peers, ours string) string {
	out, _ := exec.Command("diff", "-u", "--label", "controller-gen", "--label", "slipway", peers, ours).Output() // its status says that they differ
	const limit = 4000
	if len(out) > limit {
		out = append(out[:limit:limit], "\n…"...)
	}
	return string(out)
}

// TestGoldenFilesAreThePeers runs controller-gen on the inputs of our generators'
// own tests: their golden files must be what it writes.
func TestGoldenFilesAreThePeers(t *testing.T) {
	ctx := t.Context()
	root, err := build.Root(ctx)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := build.ControllerGen(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ dir, file, generator string }{
		{"generate/internal/deepcopy/testdata", "zz_generated.deepcopy.go", "object:headerFile=generate/internal/deepcopy/testdata/header.txt,year=2026"},
		{"generate/internal/rbac/testdata", "role.yaml", "rbac:roleName=manager-role"},
	}
	for _, test := range tests {
		goldens := find(t, filepath.Join(root, test.dir), test.file)
		if len(goldens) == 0 {
			t.Errorf("no golden file %s below %s", test.file, test.dir)
		}
		for _, golden := range goldens {
			t.Run(filepath.ToSlash(filepath.Join(test.dir, filepath.Dir(golden))), func(t *testing.T) {
				pkg := filepath.Join(test.dir, filepath.Dir(golden))
				compareGolden(ctx, t, peer, root, pkg, test.file, test.generator)
			})
		}
	}
}

// find lists the files of a name below dir, relative to it.
func find(t *testing.T, dir, name string) []string {
	t.Helper()
	var found []string
	for file := range readTree(t, dir) {
		if filepath.Base(file) == name {
			found = append(found, file)
		}
	}
	return found
}

func compareGolden(ctx context.Context, t *testing.T, peer, root, pkg, file, generator string) {
	t.Helper()
	out := t.TempDir()
	cmd := exec.CommandContext(ctx, peer, generator, "paths=./"+filepath.ToSlash(pkg), "output:dir="+out)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, output)
	}
	want, err := os.ReadFile(filepath.Join(out, file))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, pkg, file))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the golden file differs:\n%s", diff(filepath.Join(out, file), filepath.Join(root, pkg, file)))
	}
}
