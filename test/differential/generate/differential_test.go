package generate

import (
	"bytes"
	"flag"
	"github.com/slipway-dev/slipway/bench/generation"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var projectFlag = flag.String("project", "", "the project to compare on; examples/cronjob when empty")

// TestSameAsControllerGen runs controller-gen and `slipway generate` on copies of
// the example from which everything generated was removed, and compares all
// files, byte for byte but for the annotation that tells the tool's version.
func TestSameAsControllerGen(t *testing.T) {
	ctx := t.Context()
	programs, err := generation.Build(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := *projectFlag
	if project == "" {
		if project, err = generation.CronJob(ctx); err != nil {
			t.Fatal(err)
		}
	}
	ours := generateIn(t, project, func(dir string) *exec.Cmd { return programs.Generate(ctx, dir) })
	peers := generateIn(t, project, func(dir string) *exec.Cmd { return programs.ControllerGen(ctx, dir) })
	compareTrees(t, ours, peers)
	compareCommitted(t, project, ours)
}

// compareCommitted: what the project holds is what is generated for it now.
func compareCommitted(t *testing.T, project, ours string) {
	t.Helper()
	files, err := generation.Generated(ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		want, err := os.ReadFile(filepath.Join(ours, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(project, name))
		if err != nil || !bytes.Equal(withoutVersion(got), withoutVersion(want)) {
			t.Errorf("%s is not up to date; run slipway generate there (%v)", filepath.Join(project, name), err)
		}
	}
}

// generateIn runs a command on a copy of the project without generated files. It
// must succeed and write DeepCopy methods, a CRD and a role.
func generateIn(t *testing.T, project string, command func(dir string) *exec.Cmd) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	if err := generation.Copy(project, dir); err != nil {
		t.Fatal(err)
	}
	if err := generation.RemoveGenerated(dir); err != nil {
		t.Fatal(err)
	}
	cmd := command(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	files, err := generation.Generated(dir)
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
