package certmanager

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	chartutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	sigsyaml "sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the manifests of the add-on")

// addOn is the folder of the add-on's sources.
const addOn = "../../internal/addon/_sources/cert-manager"

// images is what the names of the add-on's images begin with.
const images = "addons.slipway.dev/cert-manager/"

// TestManifests: what slipway carries is cert-manager's own chart, of the version that its go.mod pins, with images of
// its own. The chart's definitions are those that slipway reads from the module, but for labels of Helm.
func TestManifests(t *testing.T) {
	dir, version := certManager(t)
	if text, err := os.ReadFile(filepath.Join(addOn, "go.mod.txt")); err != nil || !strings.Contains(string(text), "github.com/cert-manager/cert-manager "+version+"\n") {
		t.Fatalf("the add-on is not of %s (%v): this module and its go.mod.txt name the same version", version, err)
	}
	var manifests strings.Builder
	fmt.Fprintf(&manifests, "# cert-manager's chart of %s, rendered by the test in test/certmanager, which writes it again with -update.\n", version)
	for _, document := range rendered(t, filepath.Join(dir, "deploy", "charts", "cert-manager"), version) {
		object := &unstructured.Unstructured{}
		if err := sigsyaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if object.GetKind() == "CustomResourceDefinition" {
			sameDefinition(t, dir, object)
			continue
		}
		text, err := sigsyaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&manifests, "---\n%s", text)
	}
	file := filepath.Join(addOn, "manifests.yaml")
	if *update {
		if err := os.WriteFile(file, []byte(manifests.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	there, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(manifests.String(), string(there)); diff != "" {
		t.Errorf("%s is not what the chart renders to; -update writes it again\n%s", file, diff)
	}
}

// TestSources: the add-on's programs are free of findings, and its go.mod and go.sum name the modules that they need,
// no more and no less.
func TestSources(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sources")
	if err := os.CopyFS(dir, os.DirFS(addOn)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := os.Rename(filepath.Join(dir, name+".txt"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"GOFLAGS=-mod=readonly -trimpath", "GOWORK=off", "CGO_ENABLED=0"}
	output(t, command(t, dir, env, "go", "mod", "tidy", "-diff"))
	output(t, command(t, dir, env, "go", "vet", "./..."))
}

// sameDefinition wants the specification of a definition to be that of the module's own file.
func sameDefinition(t *testing.T, module string, chart *unstructured.Unstructured) {
	t.Helper()
	plural, group, _ := strings.Cut(chart.GetName(), ".")
	text, err := os.ReadFile(filepath.Join(module, "deploy", "crds", group+"_"+plural+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var plain unstructured.Unstructured
	if err := sigsyaml.Unmarshal(text, &plain.Object); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain.Object["spec"], chart.Object["spec"]); diff != "" {
		t.Errorf("%s of the chart differs:\n%s", chart.GetName(), diff)
	}
}

// installCertManager has slipway bring cert-manager, a second time for nothing.
func (c *cluster) installCertManager(t *testing.T) {
	t.Helper()
	add := []string{"cluster", "add", "cert-manager", "--timeout", patience.String()}
	t.Log(output(t, command(t, c.home, c.env, c.slipway, add...)))
	if again := output(t, command(t, c.home, c.env, c.slipway, add...)); !strings.Contains(again, "nothing changed") {
		t.Errorf("a second time: %s", again)
	}
	if err := c.Create(t.Context(), issuer(), client.DryRunAll); err != nil {
		t.Errorf("its webhook does not answer at once: %v", err)
	}
}

// issuer signs certificates with their own keys.
func issuer() *unstructured.Unstructured {
	i := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "spec": map[string]any{"selfSigned": map[string]any{}},
	}}
	i.SetNamespace(metav1.NamespaceDefault)
	i.SetName("tried")
	return i
}

// certManager is the folder and version of its module.
func certManager(t *testing.T) (dir, version string) {
	t.Helper()
	var module struct{ Dir, Version string }
	text := output(t, command(t, ".", nil, "go", "list", "-m", "-json", "github.com/cert-manager/cert-manager"))
	if err := json.Unmarshal([]byte(text), &module); err != nil {
		t.Fatal(err)
	}
	return module.Dir, module.Version
}

// rendered is what `helm template` has for the add-on, by document, in the order of the chart's files. The chart gets
// the version that cert-manager's release tool gives it.
func rendered(t *testing.T, dir, version string) (documents []string) {
	t.Helper()
	chart, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = version, version
	image := func(name string) map[string]any { return map[string]any{"repository": images + name} }
	set := map[string]any{
		"crds":            map[string]any{"enabled": true},
		"startupapicheck": map[string]any{"enabled": false}, // a hook of helm's, which waits
		"image":           image("controller"),
		"webhook": map[string]any{
			"image":          image("webhook"),
			"readinessProbe": map[string]any{"initialDelaySeconds": 0, "periodSeconds": 1}, // it answers within a second, and deployments wait for it
		},
		"cainjector": map[string]any{"image": image("cainjector")},
		"acmesolver": map[string]any{"image": image("acmesolver")},
	}
	release := common.ReleaseOptions{Name: "cert-manager", Namespace: "cert-manager", Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, set, release, common.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Engine{}.Render(chart, values)
	if err != nil {
		t.Fatal(err)
	}
	documents = append(documents, "apiVersion: v1\nkind: Namespace\nmetadata: {name: cert-manager}\n") // as --create-namespace does
	separator := regexp.MustCompile(`(?m)^---`)                                                        // as Helm has it: the chart has one with a comment in its line
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for _, document := range separator.Split(files[name], -1) {
			if strings.TrimSpace(document) != "" {
				documents = append(documents, document)
			}
		}
	}
	return documents
}
