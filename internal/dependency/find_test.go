package dependency_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/dependency"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/project"
)

// unpack writes an archive and returns the folder op in it, a project whose go.mod requires example.com/gadget and
// example.com/meta from the folders beside it.
func unpack(t *testing.T, archive string) (root string) {
	t.Helper()
	dir := t.TempDir()
	files := append(txtar.Parse([]byte(shared)).Files, txtar.Parse([]byte(archive)).Files...)
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "op")
}

// shared are a module of metadata, in place of apimachinery, and the project's go.mod.
const shared = `
-- op/go.mod --
module example.com/op

go 1.26

require example.com/gadget v1.2.3

replace example.com/gadget => ../gadget
-- gadget/go.mod --
module example.com/gadget

go 1.26
-- gadget/v1/doc.go --
// +groupName=gadgets.example.com
package v1
-- gadget/v1/types.go --
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Gadget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

type GadgetList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Gadget
}

type Sprocket struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

type Size struct{ X int }
`

// crd is a definition of the module's kind.
func crd(plural, kind, version, more string) string {
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ` + plural + `.gadgets.example.com
` + more + `spec:
  group: gadgets.example.com
  names: {plural: ` + plural + `, kind: ` + kind + `}
  versions: [{name: ` + version + `, served: true, storage: true}]
`
}

const usesGadget = "-- op/main.go --\npackage main\n\nimport gadgetv1 \"example.com/gadget/v1\"\n\nvar _ = gadgetv1.Gadget{}\n"

// origins are where definitions come from, by name.
func origins(found dependency.Found) map[string]string {
	all := map[string]string{}
	for _, d := range found.Definitions {
		all[d.Object.GetName()] = strings.TrimPrefix(d.Origin, "example.com/gadget@v1.2.3 => ../gadget ")
	}
	return all
}

func find(t *testing.T, p dependency.Project) dependency.Found {
	t.Helper()
	p.Code = codebase.Read(fileview.Disk(p.Root), os.Getenv)
	p.Environ = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	found, err := dependency.Find(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestFind(t *testing.T) {
	for _, test := range []struct {
		name, archive string
		external      []project.Resource
		want          map[string]string
		missing       bool
	}{
		{name: "the usual folders first",
			archive: usesGadget +
				"-- gadget/config/crd/experimental/a.yaml --\n" + crd("gadgets", "Gadget", "v1", "") +
				"-- gadget/charts/gadget/crds/a.yaml --\n" + crd("gadgets", "Gadget", "v1", "") +
				"-- gadget/config/crd/standard/a.yaml --\n" + crd("gadgets", "Gadget", "v1", "") +
				"-- gadget/a.yaml --\n" + crd("gadgets", "Gadget", "v1", ""),
			want: map[string]string{"gadgets.gadgets.example.com": "config/crd/standard/a.yaml"}},
		{name: "in any folder, among other documents",
			archive: usesGadget + "-- gadget/bundle.yaml --\na: b\n---\n" + crd("sprockets", "Sprocket", "v1", "") + "---\n" + crd("gadgets", "Gadget", "v1", ""),
			want:    map[string]string{"gadgets.gadgets.example.com": "bundle.yaml"}},
		{name: "by its list, in a test",
			archive: "-- op/a/a_test.go --\npackage a\n\nimport \"example.com/gadget/v1\"\n\nvar _ v1.GadgetList\n" + "-- gadget/crds/a.yaml --\n" + crd("gadgets", "Gadget", "v1", ""),
			want:    map[string]string{"gadgets.gadgets.example.com": "crds/a.yaml"}},
		{name: "by PROJECT alone",
			external: []project.Resource{{Kind: "Sprocket", Path: "example.com/gadget/v1", External: true}},
			archive:  "-- op/main.go --\npackage main\n" + "-- gadget/crds/a.yaml --\n" + crd("sprockets", "Sprocket", "v1", ""),
			want:     map[string]string{"sprockets.gadgets.example.com": "crds/a.yaml"}},
		{name: "no kind", archive: strings.Replace(usesGadget, "Gadget{}", "Size{}", 1) + "-- gadget/crds/a.yaml --\n" + crd("gadgets", "Gadget", "v1", "")},
		{name: "in another module of the repository",
			archive: strings.Replace(usesGadget, "op/main.go", "op/tools/main.go", 1) + "-- op/tools/go.mod --\nmodule example.com/tools\n" + "-- gadget/crds/a.yaml --\n" + crd("gadgets", "Gadget", "v1", "")},
		{name: "another version alone", missing: true, // apimachinery does not exist to make one from the types
			archive: usesGadget + "-- gadget/crds/a.yaml --\n" + crd("gadgets", "Gadget", "v1beta1", "")},
		{name: "a template", missing: true, archive: usesGadget + "-- gadget/crds/a.yaml --\n{{ if .Values.crds }}\n" + crd("gadgets", "Gadget", "v1", "")},
		{name: "a false name", missing: true, archive: usesGadget + "-- gadget/crds/a.yaml --\n" + strings.Replace(crd("gadgets", "Gadget", "v1", ""), "name: gadgets", "name: pods", 1)},
		{name: "a flag of the go command in place of a package",
			external: []project.Resource{{Kind: "Gadget", Path: "-toolexec=example.com/v1", External: true}},
			archive:  strings.ReplaceAll(usesGadget, "example.com/gadget/v1", "-C=example.com/gadget/v1")},
		{name: "of a package that does not exist", missing: true, archive: strings.ReplaceAll(usesGadget, "gadget/v1", "gadget/v2")},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := find(t, dependency.Project{Root: unpack(t, test.archive), External: test.external})
			if test.want == nil {
				test.want = map[string]string{}
			}
			if diff := cmp.Diff(test.want, origins(found)); diff != "" {
				t.Error(diff)
			}
			if (len(found.Missing) > 0) != test.missing {
				t.Errorf("missing are %v", found.Missing)
			}
		})
	}
}

// TestFindNothing: a project without kinds of other modules costs no run of the go command, which does not exist.
func TestFindNothing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	root := unpack(t, "-- op/main.go --\npackage main\n\nimport (\n\t\"fmt\"\n\n\tcorev1 \"k8s.io/api/core/v1\"\n\t\"example.com/gadget\"\n\townv1 \"example.com/op/api/v1\"\n)\n\nvar _ = corev1.Pod{}\nvar _ = ownv1.Thing{}\nvar _ = fmt.Sprint\nvar _ = gadget.Thing{}\n")
	if found := find(t, dependency.Project{Root: root}); len(found.Definitions)+len(found.Missing) > 0 {
		t.Errorf("found %v", found)
	}
	root = unpack(t, usesGadget)
	if _, err := dependency.Find(t.Context(), dependency.Project{Code: codebase.Read(fileview.Disk(root), os.Getenv), Root: root}); err == nil {
		t.Error("found kinds without the go command")
	}
}

// TestHostile: links out of a module, files without an end and huge ones are not read, and a definition brings nothing
// along but what defines its kind.
func TestHostile(t *testing.T) {
	more := "  finalizers: [never/ends]\n  ownerReferences: [{apiVersion: v1, kind: Node, name: a, uid: b}]\n  labels: {a: b}\n"
	text := strings.Replace(crd("gadgets", "Gadget", "v1", more), "spec:\n", "status: {storedVersions: [v0]}\nspec:\n  conversion: {strategy: Webhook, webhook: {clientConfig: {url: 'https://example.com'}}}\n", 1)
	root := unpack(t, usesGadget+"-- gadget/z/a.yaml --\n"+text+"-- secret.yaml --\n"+crd("gadgets", "Gadget", "v1", "")+
		"-- gadget/crds/huge.yaml --\n"+crd("gadgets", "Gadget", "v1", "")+strings.Repeat("# padding\n", 1<<19)+
		"-- gadget/crds/bomb.yaml --\na: &a [CustomResourceDefinition, Gadget]\n"+bomb())
	module := filepath.Join(root, "..", "gadget")
	for link, target := range map[string]string{"crds/out.yaml": "../../secret.yaml", "crds/device.yaml": "/dev/zero", "config": ".."} {
		if err := os.Symlink(target, filepath.Join(module, filepath.FromSlash(link))); err != nil {
			t.Skip(err)
		}
	}
	found := find(t, dependency.Project{Root: root})
	if diff := cmp.Diff(map[string]string{"gadgets.gadgets.example.com": "z/a.yaml"}, origins(found)); diff != "" {
		t.Fatal(diff)
	}
	got, err := json.Marshal(found.Definitions[0].Object)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"finalizers", "ownerReferences", "status", "conversion"} {
		if strings.Contains(string(got), `"`+word+`"`) {
			t.Errorf("the definition has %s: %s", word, got)
		}
	}
	if !strings.Contains(string(got), `"labels":{"a":"b"}`) {
		t.Errorf("the definition has no labels: %s", got)
	}
}

// bomb is YAML whose aliases stand for a billion times their text.
func bomb() string {
	text := ""
	for c := 'b'; c < 'k'; c++ {
		text += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 10), ",") + "]\n"
	}
	return text
}

// TestModFileStays: a go command that may complete go.mod, which users set for themselves, does not do so for those who
// only look.
func TestModFileStays(t *testing.T) {
	root := unpack(t, usesGadget+"-- op/go.mod --\nmodule example.com/op\n\ngo 1.26\n\nreplace example.com/gadget => ../gadget\n")
	p := dependency.Project{Code: codebase.Read(fileview.Disk(root), os.Getenv), Root: root, Environ: append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")}
	_, err := dependency.Find(t.Context(), p)
	text, readErr := os.ReadFile(filepath.Join(root, "go.mod"))
	if readErr != nil || strings.Contains(string(text), "require") {
		t.Errorf("go.mod is %s, %v; finding says %v", text, readErr, err)
	}
}

// TestRealModules: definitions of three modules that many operators use, as files and from types, in a project with
// the modules in the cache and with them vendored.
func TestRealModules(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", `module example.com/op

go 1.26

require (
	github.com/cert-manager/cert-manager v1.21.2
	github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring v0.87.0 // with types of an older Kubernetes
	sigs.k8s.io/gateway-api v1.6.3
)
`)
	write("main.go", `package main

import (
	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

var (
	_ = certmanagerv1.CertificateList{}
	_ = monitoringv1.ServiceMonitor{}
	_ = gatewayv1.HTTPRoute{}
)

func main() {}
`)
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
	run("mod", "tidy")
	want := map[string]string{
		"certificates.cert-manager.io":          "github.com/cert-manager/cert-manager@v1.21.2 deploy/crds/cert-manager.io_certificates.yaml",
		"httproutes.gateway.networking.k8s.io":  "sigs.k8s.io/gateway-api@v1.6.3 config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
		"servicemonitors.monitoring.coreos.com": "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.87.0, generated from the types in ./v1",
	}
	if diff := cmp.Diff(want, origins(find(t, dependency.Project{Root: root}))); diff != "" {
		t.Error(diff)
	}
	run("mod", "vendor")
	if diff := cmp.Diff(want, origins(find(t, dependency.Project{Root: root}))); diff != "" {
		t.Errorf("vendored: %s", diff)
	}
}
