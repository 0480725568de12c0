package prove

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A published operator is one of others, from its module: none of its code is here.
type published struct {
	module, version string
	api             string   // package of the API's types, in the module
	flags           []string // of this version, for METRICS in the scenario
	types           string   // version whose types make a valid CRD; empty: this one
}

// publishedBugs are mistakes that were reported to others' projects: a version that has the mistake, and one in which
// it is corrected. Their folders in testdata have the scenarios.
var publishedBugs = map[string]struct {
	has, corrected published
	mistake
	flags []string
}{
	"rabbitmq-782": {
		published{"github.com/rabbitmq/cluster-operator", "v1.8.0", "api/v1beta1", []string{"--metrics-addr=0"}, ""},
		published{"github.com/rabbitmq/cluster-operator", "v1.10.0", "api/v1beta1", []string{"--metrics-bind-address=0"}, ""},
		mistake{interrupted, `^PersistentVolumeClaim default/persistence-queue-server-0 spec\.resources`, together}, nil,
	},
	"kuberay-715": {
		published{"github.com/ray-project/kuberay/ray-operator", "v1.2.2", "apis/ray/v1", nil, ""},
		published{"github.com/ray-project/kuberay/ray-operator", "v1.4.0", "apis/ray/v1", nil, ""},
		mistake{append(stale, "stale-long", "watch-ended"), `^create pods default/small-(head|workers-worker)-`, outdated + "|idempotent"}, nil,
	},
	"rabbitmq-648": {
		published{"github.com/rabbitmq/cluster-operator", "v1.5.0", "api/v1beta1", []string{"--metrics-addr=0"}, "v1.8.0"},
		published{"github.com/rabbitmq/cluster-operator", "v1.8.0", "api/v1beta1", []string{"--metrics-addr=0"}, ""},
		mistake{[]string{"time-travel"}, `^delete statefulsets\.apps default/queue-server|^statefulsets\.apps default/queue-server`, "UID as a precondition"},
		[]string{"--time-travel"},
	},
}

// TestPublishedBugs: mistakes that were reported to others' projects are found, and not in corrected versions.
func TestPublishedBugs(t *testing.T) {
	for name, c := range publishedBugs {
		t.Run(name, func(t *testing.T) {
			t.Run(c.has.version, func(t *testing.T) {
				r, code := c.has.prove(t, name, c.flags...)
				c.mistake.has(t, r, code)
			})
			t.Run(c.corrected.version, func(t *testing.T) {
				r, _ := c.corrected.prove(t, name, c.flags...)
				for _, f := range r.Findings {
					if f.Confirmed && c.about(f) {
						t.Errorf("it is found in the corrected version, too: %s", f)
					}
				}
				if r.Writes == 0 {
					t.Error("the operator has written nothing: nothing was proved")
				}
			})
		})
	}
}

// controllerGen writes CRDs for an API's types.
const controllerGen = "sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0"

// prove builds the operator in a module of its own, and runs `slipway prove` on the scenario.
func (p published) prove(t *testing.T, name string, flags ...string) (result, int) {
	t.Helper()
	needCluster(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "published", name))); err != nil {
		t.Fatal(err)
	}
	program, crds := filepath.Join(dir, "operator"), filepath.Join(dir, "crds")
	p.in(t, filepath.Join(dir, "build"), p.version, "build", "-o", program, p.module)
	p.in(t, filepath.Join(dir, "types"), cmp.Or(p.types, p.version), "run", controllerGen,
		"crd:maxDescLen=0,generateEmbeddedObjectMeta=true,allowDangerousTypes=true", "paths="+p.module+"/"+p.api, "output:dir="+crds)
	joinManifests(t, crds)
	scenario := filepath.Join(dir, "scenario.yaml")
	text, err := os.ReadFile(scenario)
	if err != nil {
		t.Fatal(err)
	}
	filled := strings.NewReplacer("PROGRAM", program, `"METRICS"`, strings.Join(p.flags, ", ")).Replace(string(text))
	if err := os.WriteFile(scenario, []byte(filled), 0o644); err != nil {
		t.Fatal(err)
	}
	return proveIn(t, dir, append([]string{"-f", "scenario.yaml"}, flags...)...)
}

// in runs a go command in a new module that requires a version of the operator's.
func (p published) in(t *testing.T, dir, version string, arguments ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/published\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"get", p.module + "@" + version}, arguments} {
		cmd := exec.Command("go", words...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil && words[0] == "get" {
			t.Skipf("%s@%s cannot be had: %v\n%s", p.module, version, err, out)
		} else if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(words, " "), err, out)
		}
	}
}

// joinManifests joins the files of a folder into one beside it.
func joinManifests(t *testing.T, folder string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	var all bytes.Buffer
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "---\n%s\n", text)
	}
	if err := os.WriteFile(folder+".yaml", all.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
