package modulekinds_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/modulekinds"
)

// Gadget is a kind.
type Gadget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

// DeepCopyObject is there for the scheme.
func (g *Gadget) DeepCopyObject() runtime.Object { c := *g; return &c }

// TestOf: types of the scheme that are objects and not Kubernetes' own.
func TestOf(t *testing.T) {
	types := runtime.NewScheme()
	version := schema.GroupVersion{Group: "gadgets.example.com", Version: "v1"}
	types.AddKnownTypes(version, &Gadget{})
	types.AddKnownTypes(schema.GroupVersion{Version: "v1"}, &corev1.Pod{}, &corev1.PodList{})
	metav1.AddToGroupVersion(types, version)
	kinds := modulekinds.Of(types)
	const own = "github.com/slipway-dev/slipway/operator/clustertest/internal/modulekinds_test"
	if len(kinds) != 1 || len(kinds[own]) != 1 || kinds[own][0] != version.WithKind("Gadget") {
		t.Errorf("the kinds are %v", kinds)
	}
	if kinds := modulekinds.Of(types, "other.example.com"); len(kinds) > 0 {
		t.Errorf("of another group: %v", kinds)
	}
}

// crd defines a kind in version v1.
func crd(plural, kind string) string {
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.gadgets.example.com, finalizers: [never/ends]}
spec:
  group: gadgets.example.com
  names: {plural: ` + plural + `, kind: ` + kind + `}
  conversion: {strategy: Webhook}
  versions: [{name: v1, served: true, storage: true}]
`
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFind: the definition is that of the usual folder, without what concerns its own cluster; links out of the module
// and large files are not read; a kind without a definition is an error that names it.
func TestFind(t *testing.T) {
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	dir := t.TempDir()
	write(t, dir, "op/go.mod", "module example.com/op\n\ngo 1.26\n\nrequire example.com/gadget v1.2.3\n\nreplace example.com/gadget => ../gadget\n")
	write(t, dir, "op/own/own.go", "package own\n")
	write(t, dir, "gadget/go.mod", "module example.com/gadget\n\ngo 1.26\n")
	write(t, dir, "gadget/v1/types.go", "package v1\n")
	write(t, dir, "gadget/config/crd/experimental/a.yaml", strings.Replace(crd("gadgets", "Gadget"), "spec:", "  labels: {wrong: one}\nspec:", 1))
	write(t, dir, "gadget/config/crd/bases/a.yaml", "a: b\n---\n"+crd("gadgets", "Gadget"))
	write(t, dir, "gadget/crds/large.yaml", crd("sprockets", "Sprocket")+strings.Repeat("# padding\n", 1<<19))
	write(t, dir, "secret.yaml", crd("sprockets", "Sprocket"))
	if err := os.Symlink("../../secret.yaml", filepath.Join(dir, "gadget", "crds", "out.yaml")); err != nil {
		t.Log(err)
	}
	version := schema.GroupVersion{Group: "gadgets.example.com", Version: "v1"}
	kinds := modulekinds.Kinds{"example.com/gadget/v1": {version.WithKind("Gadget")}, "example.com/op/own": {version.WithKind("Own")}}
	found, err := modulekinds.Find(t.Context(), filepath.Join(dir, "op"), kinds, nil)
	if err != nil || len(found) != 1 || found[0].GetName() != "gadgets.gadgets.example.com" {
		t.Fatalf("found %v, %v", found, err)
	}
	if spec, _ := found[0].Object["spec"].(map[string]any); spec["conversion"] != nil || len(found[0].GetFinalizers()) > 0 || len(found[0].GetLabels()) > 0 {
		t.Errorf("the definition is %v", found[0].Object)
	}
	if again, err := modulekinds.Find(t.Context(), filepath.Join(dir, "op"), kinds, found); err != nil || len(again) > 0 {
		t.Errorf("what is known was found again: %v, %v", again, err)
	}
	kinds["example.com/gadget/v1"] = append(kinds["example.com/gadget/v1"], version.WithKind("Sprocket"))
	_, err = modulekinds.Find(t.Context(), filepath.Join(dir, "op"), kinds, nil)
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Where != "Sprocket.gadgets.example.com" {
		t.Errorf("the error is %v", err)
	}
}

// TestLinksOutOfModule: the go command would complete sums through a link that a repository has to elsewhere.
func TestLinksOutOfModule(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "")
	for link, refused := range map[string]bool{
		"space/op/go.sum -> ../../out": true, "space/go.work.sum -> ../out": true, "space/go.work.sum -> ../none": true, "space/op/go.sum -> ../sums": false,
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"out": "", "space/sums": "", "space/go.work": "go 1.26\n\nuse ./op\n", "space/op/go.mod": "module example.com/op\n\ngo 1.26\n", "space/op/own/own.go": "package own\n",
		} {
			write(t, dir, name, text)
		}
		name, to, _ := strings.Cut(link, " -> ")
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Skip(err)
		}
		kinds := modulekinds.Kinds{"example.com/op/own": {schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "Own"}}}
		_, err := modulekinds.Find(t.Context(), filepath.Join(dir, "space", "op"), kinds, nil)
		if f, ok := errors.AsType[*fault.Error](err); ok != refused || ok && f.Where != filepath.Join(dir, filepath.FromSlash(name)) {
			t.Errorf("%s: %v", link, err)
		}
	}
}
