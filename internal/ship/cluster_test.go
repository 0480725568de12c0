package ship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/testlimit"
)

// running is the cluster of this package's tests, started by the first that needs it.
var running struct {
	sync.Once
	session *clusterctl.Session
	err     error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if running.session != nil {
		code = cmp.Or(code, closeSession())
	}
	os.Exit(code)
}

func closeSession() int {
	if err := running.session.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// connect returns the tests' cluster and what it tells. Its program is that of `make test`.
func connect(t *testing.T) (*Cluster, *recorder) {
	t.Helper()
	if os.Getenv("SLIPWAY_CLUSTER") == "" {
		t.Skip("SLIPWAY_CLUSTER names no cluster program; `make test` does")
	}
	running.Do(func() {
		running.session, running.err = clusterctl.New(os.Getenv, report.Discard).Tie(context.Background(), "ship", clusterctl.Options{Timeout: testlimit.Hang})
	})
	if running.err != nil {
		t.Fatal(running.err)
	}
	events := &recorder{}
	c, err := Connect(Kubeconfig{Path: running.session.Kubeconfig}, events)
	if err != nil {
		t.Fatal(err)
	}
	return c, events
}

// recorder keeps what is told of objects, and warnings.
type recorder struct {
	lines []string
	step  func(string) // is called with what is done; may be nil
}

func (r *recorder) Handle(e report.Event) {
	switch e := e.(type) {
	case report.Object:
		r.lines = append(r.lines, string(e.Action)+" "+e.Name)
	case report.Warning:
		r.lines = append(r.lines, "warning "+e.Text)
	case report.Step:
		if r.step != nil {
			r.step(e.Name)
		}
	}
}

// want checks and forgets what was told.
func (r *recorder) want(t *testing.T, lines ...string) {
	t.Helper()
	if diff := gocmp.Diff(lines, r.lines); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
	r.lines = nil
}

// objects parses YAML documents.
func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, document := range strings.Split(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		text, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		if err := object.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
	return all
}

// remove takes objects away again when the test ends, so that it can be repeated
// on the same cluster.
func remove(t *testing.T, c *Cluster, text string) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), objects(t, text), DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// definition is a CRD for kind Boat in a group of the test's own.
func definition(group, description string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: boats, singular: boat, kind: Boat, listKind: BoatList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: %[2]q
            properties: {oars: {type: integer}}
`, group, description)
}

func boat(group, spec string) string {
	return fmt.Sprintf("apiVersion: %s/v1\nkind: Boat\nmetadata: {name: one}\nspec: %s\n", group, spec)
}

// TestApply applies an object before its definition, in the given order, and
// each a second time.
func TestApply(t *testing.T) {
	c, events := connect(t)
	const group = "apply.example.com"
	both := objects(t, boat(group, "{oars: 2}")+"\n---\n"+definition(group, "what it is"))
	ctx := t.Context()
	apply := func(objects []*unstructured.Unstructured) {
		t.Helper()
		if err := c.Apply(ctx, objects, ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	apply(both)
	events.want(t, "created crd/boats."+group, "created boat/default/one")
	apply(both)
	events.want(t, "unchanged crd/boats."+group, "unchanged boat/default/one")
	apply(objects(t, boat(group, "{oars: 3}")))
	events.want(t, "updated boat/default/one")

	if err := c.Delete(ctx, both, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "deleted boat/default/one", "deleted crd/boats."+group)
	if err := c.Delete(ctx, both, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "unchanged boat/one", "unchanged crd/boats."+group)
}

// TestApplyLarge applies a definition beyond what fits into an annotation.
func TestApplyLarge(t *testing.T) {
	c, events := connect(t)
	large := definition("large.example.com", strings.Repeat("a long story ", 50_000))
	if size := len(large); size < 2*262_144 {
		t.Fatalf("the definition has only %d bytes", size)
	}
	remove(t, c, large)
	if err := c.Apply(t.Context(), objects(t, large), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "created crd/boats.large.example.com")
}

func TestApplyConflict(t *testing.T) {
	c, events := connect(t)
	ctx := t.Context()
	theirs := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"contested"},"data":{"owner":"them"}}`)
	resource := c.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	if _, err := resource.Patch(ctx, "contested", types.ApplyPatchType, theirs, metav1.PatchOptions{FieldManager: "gitops"}); err != nil {
		t.Fatal(err)
	}
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: contested}\ndata: {owner: us}"
	ours := objects(t, text)
	remove(t, c, text)
	known := failure(t, c.Apply(ctx, ours, ApplyOptions{}))
	if known.Where != "configmap/default/contested" || *known.Object != (report.ObjectRef{Kind: "ConfigMap", Namespace: "default", Name: "contested"}) || known.Class != report.Conflict {
		t.Errorf("the error is about %s, %+v, class %q", known.Where, known.Object, known.Class)
	}
	for _, part := range []string{".data.owner", "gitops", "--force-conflicts"} {
		if !strings.Contains(known.Hint, part) {
			t.Errorf("the hint does not name %s: %s", part, known.Hint)
		}
	}
	events.want(t)
	if err := c.Apply(ctx, ours, ApplyOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "updated configmap/default/contested")
}

// failure is the report.Error that err must be.
func failure(t *testing.T, err error) *report.Error {
	t.Helper()
	known, ok := errors.AsType[*report.Error](err)
	if !ok {
		t.Fatalf("error is %v, want a report.Error", err)
	}
	return known
}

func TestApplyRefused(t *testing.T) {
	c, events := connect(t)
	if err := c.Apply(t.Context(), objects(t, definition("strict.example.com", "x")), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	events.lines = nil
	for _, test := range []struct {
		name, object, where, what string
		class                     report.Class
	}{
		{"unknown kind", "apiVersion: nowhere.example.com/v1\nkind: Boat\nmetadata: {name: one}", "boat/one", "the cluster does not serve this kind", report.Refused},
		{"unknown field", boat("strict.example.com", "{ores: 2}"), "boat/default/one", "the cluster refused the object", report.Refused},
		{"no such namespace", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: nowhere}", "configmap/nowhere/a", "its namespace does not exist", report.Refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			known := failure(t, c.Apply(t.Context(), objects(t, test.object), ApplyOptions{}))
			if known.Where != test.where || known.What != test.what || known.Err == nil || known.Class != test.class || known.Object == nil {
				t.Errorf("error is %v of class %q about %+v, want %s: %s and a cause", known, known.Class, known.Object, test.where, test.what)
			}
		})
	}
	events.want(t)
}

// TestEstablishTimeout: a definition whose names are taken never is established.
func TestEstablishTimeout(t *testing.T) {
	c, _ := connect(t)
	const group = "taken.example.com"
	if err := c.Apply(t.Context(), objects(t, definition(group, "first")), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	second := strings.ReplaceAll(definition(group, "second"), "boats", "ships")
	known := failure(t, c.Apply(t.Context(), objects(t, second), ApplyOptions{Timeout: time.Hour}))
	if known.Where != "crd/ships."+group || known.Err == nil || !strings.Contains(known.Err.Error(), "already in use") {
		t.Errorf("error is %v, want one that says which name is in use", known)
	}
	if known.Class != report.NotReady || len(known.Unready) != 1 || known.Unready[0].Reason != "NotEstablished" {
		t.Errorf("class %q, %+v", known.Class, known.Unready)
	}
}

// TestDeleteHeld: an object with a finalizer keeps its definition, until the
// finalizer goes.
func TestDeleteHeld(t *testing.T) {
	c, events := connect(t)
	ctx := t.Context()
	const group = "held.example.com"
	crd := objects(t, definition(group, "held"))
	held := objects(t, boat(group, "{oars: 2}"))
	held[0].SetFinalizers([]string{"example.com/haul"})
	if err := c.Apply(ctx, append(held, crd...), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	events.lines = nil
	var waits []string
	events.step = func(text string) { waits = append(waits, text) }
	known := failure(t, c.Delete(ctx, crd, DeleteOptions{Timeout: 100 * time.Millisecond}))
	if want := []string{"asking the server to delete the objects", "waiting for crd/boats." + group + " to be deleted"}; !slices.Equal(waits, want) {
		t.Errorf("it waits for %q, want %q", waits, want)
	}
	if known.Where != "crd/boats."+group || !strings.Contains(known.Hint, "boat/default/one waits for finalizer example.com/haul") || known.Class != report.Timeout {
		t.Errorf("error is %v, want one that names the object and its finalizer", known)
	}
	resource := c.objects.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "boats"}).Namespace("default")
	if _, err := resource.Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, crd, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(events.lines, ";"); got != "deleted crd/boats."+group && got != "unchanged crd/boats."+group {
		t.Errorf("events are %s", got)
	}
}

// TestWarnings: what the server warns of is told.
func TestWarnings(t *testing.T) {
	c, events := connect(t)
	deprecated := strings.Replace(definition("old.example.com", "old"), "served: true", "served: true\n    deprecated: true\n    deprecationWarning: boats are old", 1)
	if err := c.Apply(t.Context(), objects(t, deprecated+"\n---\n"+boat("old.example.com", "{}")), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(events.lines, "warning boats are old") {
		t.Errorf("events are %q, want the server's warning", events.lines)
	}
}
