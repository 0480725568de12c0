package generate

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/bench/build"
)

// TestApplyConfigurationsOfCorpus compares the generator applyconfiguration with controller-gen's on the corpus of our
// own tests, and controller-gen's files with those that our tests expect. Ours has no other program to ask.
func TestApplyConfigurationsOfCorpus(t *testing.T) {
	root, err := build.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	testdata := filepath.Join(root, "internal", "generate", "internal", "clients", "testdata", "apply")
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		renamed := strings.Replace(string(text), "module github.com/slipway-dev/slipway\n", "module example.com/corpus\n", 1)
		writeFiles(t, dir, map[string]string{name: renamed})
	}
	corpus, err := os.ReadFile(filepath.Join(testdata, "corpus.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse(corpus).Files {
		writeFiles(t, dir, map[string]string{f.Name: string(f.Data)})
	}
	programs := testPrograms(t)
	args := []string{"applyconfiguration:headerFile=header.txt", "paths=./..."}
	peers := appliedBelow(t, dir, exec.CommandContext(t.Context(), programs.Peer, args...))
	ours := appliedBelow(t, dir, exec.CommandContext(t.Context(), programs.Slipway, append([]string{"controller-gen"}, args...)...))
	compareContents(t, ours, peers, 20)
	compareContents(t, expected(t, filepath.Join(testdata, "golden.txtar.gz")), peers, 20)
}

// expected are the golden files.
func expected(t *testing.T, path string) map[string][]byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, f := range txtar.Parse(text).Files {
		files[f.Name] = f.Data
	}
	return files
}

// appliedBelow runs a command and returns, and removes, the files that it adds below dir. It has to do without the
// program with Kubernetes' own generators.
func appliedBelow(t *testing.T, dir string, cmd *exec.Cmd) map[string][]byte {
	t.Helper()
	before := readTree(t, dir)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "SLIPWAY_CACHE="+t.TempDir(), "SLIPWAY_CODEGEN="+filepath.Join(dir, "none"))
	if said, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(said, []byte("panic: allSchemas schema is missing")) {
			t.Skip("controller-gen cannot read it")
		}
		t.Fatalf("%s: %v\n%s", cmd.Path, err, said)
	}
	added := make(map[string][]byte)
	for name, content := range readTree(t, dir) {
		if before[name] != nil || name == "go.mod" || name == "go.sum" {
			continue
		}
		added[name] = content
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return added
}

var packageClause = regexp.MustCompile(`(?m)^package `)

// TestApplyConfigurationsOfRealProjects compares both programs on APIs of real projects. Those have clients of
// code-generator, so they are marked for this generator first.
func TestApplyConfigurationsOfRealProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-real")
	}
	programs := testPrograms(t)
	for _, project := range []struct {
		module, packages string
		docs             []string // files that get the marker
		atLeast          int
	}{
		{"sigs.k8s.io/jobset@v0.12.0", "./api/jobset/...", []string{"api/jobset/v1alpha2/groupversion_info.go"}, 12},
		{"sigs.k8s.io/lws@v0.7.0", "./api/leaderworkerset/...", []string{"api/leaderworkerset/v1/groupversion_info.go"}, 8},
		{"sigs.k8s.io/kueue@v0.10.0", "./apis/kueue/...", []string{"apis/kueue/v1alpha1/groupversion_info.go", "apis/kueue/v1beta1/groupversion_info.go"}, 50},
		{"sigs.k8s.io/gateway-api@v1.6.3", "./apis/v1", []string{"apis/v1/doc.go"}, 50},
		{"volcano.sh/apis@v1.12.1", "./pkg/apis/batch/...", []string{"pkg/apis/batch/v1alpha1/doc.go"}, 10},
	} {
		t.Run(project.module, func(t *testing.T) {
			dir := fetchModule(t, project.module)
			for _, name := range project.docs {
				path := filepath.Join(dir, filepath.FromSlash(name))
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				at := packageClause.FindIndex(text)
				if at == nil {
					t.Fatalf("%s has no package clause", name)
				}
				marked := string(text[:at[0]]) + "// +kubebuilder:ac:generate=true\n" + string(text[at[0]:])
				writeFiles(t, dir, map[string]string{name: marked})
			}
			args := []string{"applyconfiguration", "paths=" + project.packages}
			peers := appliedBelow(t, dir, exec.CommandContext(t.Context(), programs.Peer, args...))
			ours := appliedBelow(t, dir, exec.CommandContext(t.Context(), programs.Slipway, append([]string{"controller-gen"}, args...)...))
			compareContents(t, ours, peers, project.atLeast)
		})
	}
}
