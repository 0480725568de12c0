package words_test

import (
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/prose"
)

// A variable of the environment that programs of slipway read. Those that slipway sets itself are for its own programs.
type variable struct {
	name, meaning string
	own           bool // slipway sets it
}

func variables() []variable {
	return []variable{
		{name: "SLIPWAY_DOWNLOAD", meaning: "`off`: slipway downloads no program; or the https address of a mirror of the releases"},
		{name: "SLIPWAY_STATE", meaning: "folder for the state of clusters; by default `slipway` in `XDG_STATE_HOME`, else `~/.local/state/slipway`"},
		{name: "SLIPWAY_CACHE", meaning: "folder for compiled programs and images; by default `slipway` in the user's cache folder"},
		{name: "SLIPWAY_SOURCE", meaning: "checkout of slipway's sources, from which it compiles its programs"},
		{name: "SLIPWAY_TRUST", meaning: "folders, listed as in `PATH`: slipway starts programs and compiles sources below them, also where other users may write"},
		{name: "SLIPWAY_CLUSTER", meaning: "path of the program slipway-cluster"},
		{name: "SLIPWAY_NODE", meaning: "path of the program slipway-node, which runs real nodes"},
		{name: "SLIPWAY_CHECK", meaning: "path of the program slipway-check, or `off`: `generate` does not check CRDs"},
		{name: "SLIPWAY_CODEGEN", meaning: "path of the program slipway-codegen, which makes clients"},
		{name: "SLIPWAY_MIRROR", meaning: "mirrors of registries, as `docker.io=mirror.example.com:5000`, with commas between them"},
		{name: "SLIPWAY_REGISTRIES", meaning: "registries in private networks that real nodes may pull from, as `HOST:PORT`, with commas between them"},
		{name: "SLIPWAY_CONTROLLERS", meaning: "controllers of envtest's control planes: `1` for all, or a list; `test --controllers` sets it"},
		{name: "SLIPWAY_SIMULATED_PODS", meaning: "what becomes of simulated pods in these control planes: `pending`, `running` or `complete`"},
		{name: "SLIPWAY_SIMULATED_JOBS", meaning: "the same for the pods of Jobs"},
		{name: "KUBECONFIG", meaning: "kubeconfig files; by default `~/.kube/config`"},
		{name: "KUBEBUILDER_ASSETS", meaning: "folder of etcd and kube-apiserver for envtest; your value stays"},
		{name: "USE_EXISTING_CLUSTER", meaning: "`true`: suites use the cluster of `KUBECONFIG`"},
		{name: "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT", meaning: "how long a control plane may take to start; `slipway test` sets 3m"},
		{name: "ENVTEST_INSTALLED_ONLY", meaning: "any value: `setup-envtest` looks only at installed versions"},
		{name: "ENVTEST_USE_ENV", meaning: "any value: `setup-envtest` takes the folder in `KUBEBUILDER_ASSETS`"},
		{name: "DOCKER_CONFIG", meaning: "folder of the file with registries' accounts; by default `~/.docker`"},
		{name: "SOURCE_DATE_EPOCH", meaning: "time of an image, in seconds since 1970; by default that of the commit"},
		{name: "GOMEMLIMIT", meaning: "memory from which on slipway collects garbage all the time, by default 1GiB; a command that needs twice as much is stopped, unless this is off"},
		{name: "NO_COLOR", meaning: "any value: no colour"},
		{name: "GITHUB_ACTIONS", meaning: "`true`: messages are annotations of the workflow"},
		{own: true, name: "SLIPWAY_SHARED_CLUSTER", meaning: "`test --shared`: socket of the cluster that clustertest joins"},
		{own: true, name: "SLIPWAY_DEFINITIONS", meaning: "`test --dependencies`: file with the CRDs that control planes begin with"},
		{own: true, name: "SLIPWAY_STANDS_FOR", meaning: "`tools link`: version that the Makefile expects"},
		{own: true, name: "SLIPWAY_CALLED_AS", meaning: "`tools link`: path by which the tool was called"},
		{own: true, name: "SLIPWAY_KUBECTL", meaning: "`kubectl`: path of the program that runs in its place"},
		{own: true, name: "SLIPWAY_CODEGEN_WORLD", meaning: "`generate clients`: file with the packages of the project"},
	}
}

// A location is a file or folder that commands read or write. Word is in a string of the code that does.
type location struct{ path, access, meaning, word string }

func projectPlaces() []location {
	return []location{
		{"PROJECT", "both", "the project's facts, in kubebuilder's format", "PROJECT"},
		{".slipway/base", "both", "the text that was scaffolded: the base of later merges; commit it", ".slipway/base"},
		{".slipway/.gitattributes", "writes", "has git merge `.slipway/base`", ".gitattributes"},
		{".slipway/pending", "both", "an interrupted change, which the next command takes back", "pending"},
		{"go.mod, go.sum", "both", "the module; `create` and `init` add modules", "go.mod"},
		{"Makefile", "reads", "the options of its calls of controller-gen", "Makefile"},
		{"Dockerfile", "reads", "how `image build` compiles and starts the manager", "Dockerfile"},
		{"hack/boilerplate.go.txt", "reads", "the header of generated Go files", "hack/boilerplate.go.txt"},
		{"cmd/main.go", "both", "`create` adds lines that start controllers and webhooks", "cmd/main.go"},
		{"**/zz_generated.deepcopy.go", "writes", "DeepCopy methods", "zz_generated.deepcopy.go"},
		{"config/crd/bases/*.yaml", "writes", "CRDs", "config/crd/bases"},
		{"config/rbac/role.yaml", "writes", "the manager's role", "role.yaml"},
		{"config/webhook/manifests.yaml", "writes", "webhook configurations", "manifests.yaml"},
		{"config/default/kustomization.yaml", "both", "one line for each feature", "config/default"},
		{"bin/", "writes", "`tools link` puts links to slipway there", "bin"},
		{"dist/chart/", "both", "the Helm chart of `slipway helm`", "dist"},
	}
}

func userPlaces() []location {
	return []location{
		{"~/.kube/config", "both", "a context `slipway-NAME` for each cluster; `KUBECONFIG` names others", "KUBECONFIG"},
		{"~/.local/state/slipway/clusters/NAME/", "both", "state, logs, credentials and data of a cluster, for its user alone", "clusters"},
		{"~/.cache/slipway/programs/", "both", "programs that slipway compiled: slipway-cluster and others", "programs"},
		{"~/.cache/slipway/images/", "both", "images that were built or pulled, until `image remove`", "images"},
		{"~/.cache/slipway/checked/", "both", "answers about CRDs", "checked"},
		{"~/.cache/slipway/exports/", "both", "where Go's build cache has compiled packages", "exports"},
		{"~/.cache/slipway/addons/", "both", "add-ons that were compiled", "addons"},
		{"~/.cache/slipway/definitions/", "both", "CRDs of other modules, for tests", "definitions"},
		{"~/.cache/slipway/journal/", "both", "keys of unfinished changes", "journal"},
		{"~/.cache/slipway/locks/", "writes", "locks by which commands wait for each other; `SLIPWAY_CACHE` does not move them", "locks"},
		{"~/.local/share/kubebuilder-envtest/", "both", "folders of `setup-envtest`", "kubebuilder-envtest"},
		{"~/.docker/config.json", "both", "accounts of registries; `image login` adds to them", "config.json"},
	}
}

// ofSlipway are the folders whose programs users run.
var ofSlipway = regexp.MustCompile(`^(cmd|internal|cluster|operator|project)/`)

// literals are the strings in the code that users run.
func literals(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, file := range files(t, ".go") {
		if !ofSlipway.MatchString(file) || strings.HasSuffix(file, "_test.go") {
			continue
		}
		text := []byte(readText(t, file))
		fset := token.NewFileSet()
		var s scanner.Scanner
		s.Init(fset.AddFile(file, -1, len(text)), text, nil, 0)
		for _, tok, lit := s.Scan(); tok != token.EOF; _, tok, lit = s.Scan() {
			if tok == token.STRING {
				all = append(all, lit)
			}
		}
	}
	if len(all) < 1000 {
		t.Fatalf("found only %d strings", len(all))
	}
	return all
}

// TestVariablesAreListed: each variable that begins with SLIPWAY_ is in the table, and the code has each of the table.
func TestVariablesAreListed(t *testing.T) {
	ours := regexp.MustCompile(`\bSLIPWAY_[A-Z_]*[A-Z]`)
	text := strings.Join(literals(t), "\n")
	for _, name := range slices.Compact(slices.Sorted(slices.Values(ours.FindAllString(text, -1)))) {
		if !slices.ContainsFunc(variables(), func(v variable) bool { return v.name == name }) {
			t.Errorf("the table of variables does not have %s", name)
		}
	}
	for _, v := range variables() {
		if !regexp.MustCompile(`\b` + v.name + `\b`).MatchString(text) {
			t.Errorf("no string of the code has the variable %s", v.name)
		}
	}
}

// TestPlacesAreThere: the code has a string for each file of the table.
func TestPlacesAreThere(t *testing.T) {
	all := literals(t)
	for _, p := range slices.Concat(projectPlaces(), userPlaces()) {
		word := regexp.MustCompile(`(^|["/\x60 ])` + regexp.QuoteMeta(p.word) + `(["/\x60 ,.;:)]|$)`)
		if !slices.ContainsFunc(all, word.MatchString) {
			t.Errorf("no string of the code has %s, for %s", p.word, p.path)
		}
	}
}

var update = flag.Bool("update", false, "write the pages of docs/reference anew")

// TestReferencePages: the pages are the tables; -update writes them.
func TestReferencePages(t *testing.T) {
	for page, text := range map[string]string{"docs/reference/environment.md": environmentPage(), "docs/reference/files.md": filesPage()} {
		want, err := prose.Reflow(page, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join(root, page), want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(want), readText(t, page)); diff != "" {
			t.Errorf("%s (-table +page; go test ./internal/repotest/words -run TestReferencePages -update):\n%s", page, diff)
		}
	}
}

const generated = "<!-- Generated by a test: edit the definitions instead. -->\n"

func environmentPage() string {
	var yours, own strings.Builder
	for _, v := range variables() {
		b := &yours
		if v.own {
			b = &own
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", v.name, v.meaning)
	}
	const head = "| variable | meaning |\n|---|---|\n"
	return generated + "# Environment variables\n\nLook up the environment variables that commands read. [Testing](../guides/testing.md#envtests-variables) has those of envtest itself.\n\n" +
		head + yours.String() + "\nSlipway sets these for its own programs:\n\n" + head + own.String()
}

func filesPage() string {
	table := func(places []location) string {
		var b strings.Builder
		for _, p := range places {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.path, p.access, p.meaning)
		}
		return "| path | slipway | content |\n|---|---|---|\n" + strings.ReplaceAll(b.String(), "| both |", "| reads and writes |")
	}
	return generated + "# Files\n\nLook up the files that commands read and write. [Environment variables](environment.md) move the folders of the user.\n\n" +
		"## In a project\n\n" + table(projectPlaces()) + "\n## Of the user\n\nThe paths are those of Linux.\n\n" + table(userPlaces())
}
