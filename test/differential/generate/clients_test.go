package generate

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/bench/generation"
)

// fluxAPI is a real API, in three versions. It does without clients of this kind, so their markers are added.
const fluxAPI = "github.com/fluxcd/source-controller/api@v1.6.2"

const (
	fluxModule = "github.com/fluxcd/source-controller/api"
	fluxGroup  = "source.toolkit.fluxcd.io"
)

var (
	fluxVersions = []string{"v1", "v1beta1", "v1beta2"}
	fluxKind     = regexp.MustCompile(`(?m)^type (Bucket|GitRepository|HelmChart|HelmRepository|OCIRepository) struct`)
)

// fetchMarked is a copy of the API with +genclient above its kinds, and what is asked for in each of its packages.
func fetchMarked(t *testing.T, pkg string) string {
	t.Helper()
	dir, marked := fetchModule(t, fluxAPI), 0
	paths, err := filepath.Glob(filepath.Join(dir, "v*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		now := fluxKind.ReplaceAll(text, []byte("// +genclient\n$0"))
		if filepath.Base(path) == "doc.go" {
			now = bytes.Replace(now, []byte("\npackage "), []byte("\n// "+pkg+"\npackage "), 1)
		}
		if bytes.Equal(now, text) {
			continue
		}
		marked++
		if err := os.WriteFile(path, now, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if marked < 10 {
		t.Fatalf("%d files are marked only", marked)
	}
	return dir
}

// TestClientsOfRealAPI has code-generator's programs, called as kube_codegen.sh calls them, and
// `slipway generate clients` write the clients of a real API into the same folder of a copy each, and compares the
// trees byte for byte.
func TestClientsOfRealAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-real")
	}
	slipway, err := build.Slipway(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := fetchMarked(t, "Marked for a comparison.")
	useOurClientGo(t, dir)
	writeFiles(t, dir, map[string]string{
		"PROJECT":                 "domain: toolkit.fluxcd.io\nlayout:\n- go.kubebuilder.io/v4\nprojectName: source-controller\nrepo: " + fluxModule + "\nversion: \"3\"\n",
		"hack/boilerplate.go.txt": "// Somebody holds the rights.\n",
	})
	out := filepath.Join(dir, "compared")
	peers := clientsOfPeers(t, dir, out)
	ours := exec.CommandContext(t.Context(), slipway, "generate", "clients", "--dir", "compared", "--group", fluxGroup)
	files, failure := generated(t, ours, dir, out)
	if failure != "" {
		t.Fatal(failure)
	}
	compareContents(t, files, peers, 100)
}

// useOurClientGo has the module in dir require the client-go that slipway's own module does. Clients are written by the
// generators of a project's own version, and those that the peers are built from are of this one.
func useOurClientGo(t *testing.T, dir string) {
	t.Helper()
	version, err := build.ClientGo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	get := exec.CommandContext(t.Context(), "go", "get", "k8s.io/client-go@"+version)
	get.Dir = dir
	get.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if told, err := get.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, told)
	}
}

// clientsOfPeers runs the four programs in the order of kube_codegen.sh and returns what they wrote.
func clientsOfPeers(t *testing.T, dir, out string) map[string][]byte {
	t.Helper()
	header, programs := filepath.Join(dir, "hack", "boilerplate.go.txt"), t.TempDir()
	var inputs, packages []string
	for _, version := range fluxVersions {
		inputs = append(inputs, "--input", fluxModule+"/"+version)
		packages = append(packages, fluxModule+"/"+version)
	}
	pkg := fluxModule + "/compared/"
	var told []string
	for _, run := range [][]string{
		append([]string{"applyconfiguration-gen", "applyconfiguration"}, packages...),
		append([]string{"client-gen", "clientset", "--clientset-name", "versioned", "--apply-configuration-package", pkg + "applyconfiguration", "--input-base", ""}, inputs...),
		append([]string{"lister-gen", "listers"}, packages...),
		append([]string{"informer-gen", "informers", "--versioned-clientset-package", pkg + "clientset/versioned", "--listers-package", pkg + "listers"}, packages...),
	} {
		program, err := build.CodeGenerator(t.Context(), programs, run[0])
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, append([]string{"--go-header-file", header,
			"--output-dir", filepath.Join(out, run[1]), "--output-pkg", pkg + run[1]}, run[2:]...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
		if text, err := cmd.CombinedOutput(); err != nil {
			told = append(told, run[0]+": "+string(text))
		}
	}
	if len(told) > 0 {
		t.Skipf("code-generator cannot read it here:\n%s", strings.Join(told, "\n"))
	}
	files := readTree(t, out)
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	return files
}

// TestApplyConfigurationsOfRealAPI compares the generator applyconfiguration with controller-gen's on a real API whose
// packages are marked for it.
func TestApplyConfigurationsOfRealAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-real")
	}
	programs, err := generation.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := fetchMarked(t, "+kubebuilder:ac:generate=true")
	args := []string{"applyconfiguration:headerFile=header.txt", "paths=./..."}
	writeFiles(t, dir, map[string]string{"header.txt": "// Somebody holds the rights.\n"})
	peers := applied(t, dir, exec.CommandContext(t.Context(), programs.Peer, args...), t.Skipf)
	ours := applied(t, dir, exec.CommandContext(t.Context(), programs.Slipway, append([]string{"controller-gen"}, args...)...), t.Fatalf)
	compareContents(t, ours, peers, 50)
}

// applied runs a command and returns, and removes, the apply configurations that are below dir then.
func applied(t *testing.T, dir string, cmd *exec.Cmd, failed func(format string, args ...any)) map[string][]byte {
	t.Helper()
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	if told, err := cmd.CombinedOutput(); err != nil {
		failed("%s: %v\n%s", cmd.Path, err, told)
	}
	files := make(map[string][]byte)
	folders, err := filepath.Glob(filepath.Join(dir, "v*", "applyconfiguration"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		version := filepath.Base(filepath.Dir(folder))
		for name, content := range readTree(t, folder) {
			files[version+"/"+name] = content
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// compareContents tells every file that is not the same in both; fewer files than expected mean that too little was
// compared.
func compareContents(t *testing.T, ours, peers map[string][]byte, atLeast int) {
	t.Helper()
	if len(peers) < atLeast {
		t.Fatalf("the other program wrote %d files only", len(peers))
	}
	for _, name := range differingFiles(ours, peers) {
		switch {
		case ours[name] == nil:
			t.Errorf("%s: not written by us", name)
		case peers[name] == nil:
			t.Errorf("%s: written by us only", name)
		default:
			t.Errorf("%s differs:\n%s", name, diffText(t, peers[name], ours[name]))
		}
	}
	t.Logf("compared %d files", len(peers))
}
