package ship

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// with is text with old replaced, which it must have.
func with(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("%q is not in %s", old, text)
	}
	return strings.ReplaceAll(text, old, new)
}

// second is another version of a definition.
const second = "  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n"

// TestApplyNewVersion: an update of a definition adds a version, which objects that come with it have.
func TestApplyNewVersion(t *testing.T) {
	c, events := connect(t)
	const group = "newer.example.com"
	first := definition(group, "one version")
	remove(t, c, first)
	apply := func(text string) {
		t.Helper()
		if err := c.Apply(t.Context(), objects(t, text), ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	apply(first)
	newer := with(t, boat(group, "{sails: 2}"), "/v1", "/v2")
	apply(newer + "\n---\n" + first + second)
	events.want(t, "created crd/boats."+group, "updated crd/boats."+group, "created boat/default/one")
}

// TestApplyNewFields: an update of a definition adds a field, which objects that come with it have. The server judges
// those by the definition as it was for a moment more.
func TestApplyNewFields(t *testing.T) {
	c, _ := connect(t)
	const group = "fields.example.com"
	text := definition(group, "fields")
	remove(t, c, text)
	if err := c.Apply(t.Context(), objects(t, text), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		field := fmt.Sprintf("field%d", i)
		changed := with(t, text, "{oars:", "{"+field+": {type: integer}, oars:")
		if err := c.Apply(t.Context(), objects(t, changed+"\n---\n"+boat(group, "{"+field+": 2}")), ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestApplyUnserved: an object of a version that its definition does not serve is told of before anything is applied,
// and at once.
func TestApplyUnserved(t *testing.T) {
	c, events := connect(t)
	const group = "unserved.example.com"
	served := definition(group, "unserved")
	unserved := with(t, served, "served: true", "served: false")
	remove(t, c, served)
	refused := func(text, hint string) {
		t.Helper()
		known := failure(t, c.Apply(t.Context(), objects(t, text), ApplyOptions{Timeout: time.Hour}))
		if known.Hint != hint || !strings.Contains(known.What, "this version") || known.Where != "boat/one" {
			t.Errorf("error is %v, %s; want one of boat/one with %s", known, known.Hint, hint)
		}
		events.want(t)
	}
	refused(boat(group, "{}")+"\n---\n"+unserved, "crd/boats."+group+" serves no version")
	newer := with(t, boat(group, "{}"), "/v1", "/v2")
	refused(newer+"\n---\n"+served, "crd/boats."+group+" serves v1")

	// The same of a definition that the cluster has, whatever it serves.
	for _, text := range []string{unserved, served} {
		if err := c.Apply(t.Context(), objects(t, text), ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	events.want(t, "created crd/boats."+group, "updated crd/boats."+group)
	refused(newer, "crd/boats."+group+" serves v1")
	refused(boat(group, "{}")+"\n---\n"+unserved, "crd/boats."+group+" serves no version")
}

// TestNamesTaken: names that another definition has are told of long before time is up, also those that an update adds.
func TestNamesTaken(t *testing.T) {
	c, events := connect(t)
	const group = "names.example.com"
	boats := definition(group, "first")
	ships := strings.NewReplacer("boats", "ships", "boat", "ship", "Boat", "Ship").Replace(boats)
	remove(t, c, boats+"\n---\n"+ships)
	if err := c.Apply(t.Context(), objects(t, boats+"\n---\n"+ships), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	short := with(t, ships, "kind: Ship,", "kind: Ship, shortNames: [boats],")
	known := failure(t, c.Apply(t.Context(), objects(t, short), ApplyOptions{Timeout: time.Hour}))
	if known.Where != "crd/ships."+group || known.Err == nil || !strings.Contains(known.Err.Error(), `"boats" is already in use`) {
		t.Errorf("error is %v, want one that says which name is in use", known)
	}
	events.lines = nil
	if err := c.Apply(t.Context(), objects(t, ships), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "updated crd/ships."+group)
}

// TestApplyInvalid: a definition that the server refuses is told of with its reason.
func TestApplyInvalid(t *testing.T) {
	c, events := connect(t)
	text := with(t, definition("invalid.example.com", "invalid"), "type: integer", "type: whole")
	known := failure(t, c.Apply(t.Context(), objects(t, text), ApplyOptions{Timeout: time.Hour}))
	if known.Where != "crd/boats.invalid.example.com" || known.Err == nil || !strings.Contains(known.Err.Error(), `"whole"`) {
		t.Errorf("error is %v, want the server's", known)
	}
	events.want(t)
}

// TestApplyLeaving: a definition that is being deleted is waited for and made anew; where it stays, what was applied to
// it is not called done.
func TestApplyLeaving(t *testing.T) {
	c, events := connect(t)
	ctx := t.Context()
	const group = "leaving.example.com"
	text := definition(group, "leaving")
	remove(t, c, text)
	held := objects(t, boat(group, "{oars: 2}"))
	held[0].SetFinalizers([]string{"example.com/haul"})
	if err := c.Apply(ctx, slices.Concat(objects(t, text), held), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.objects.Resource(crdResource).Delete(ctx, "boats."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	other := with(t, boat(group, "{oars: 2}"), "name: one", "name: two")
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: leaving}\n"
	remove(t, c, config)
	for _, also := range [][]*unstructured.Unstructured{nil, objects(t, other), objects(t, config)} {
		known := failure(t, c.Apply(ctx, slices.Concat(objects(t, text), also), ApplyOptions{Timeout: 500 * time.Millisecond}))
		if known.Where != "crd/boats."+group || !strings.Contains(known.Hint, "boat/default/one waits for finalizer example.com/haul") {
			t.Errorf("error is %v, %s; want one that says what is waited for", known, known.Hint)
		}
	}
	if !slices.Contains(events.lines, "created configmap/default/leaving") {
		t.Errorf("events are %q; what does not need the definition is applied", events.lines)
	}

	events.lines = nil
	freed := make(chan error, 1)
	events.step = func(text string) { // it waits now
		if strings.HasPrefix(text, "waiting for crd/boats."+group) {
			resource := c.objects.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "boats"}).Namespace("default")
			_, err := resource.Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			freed <- err
		}
	}
	if err := c.Apply(ctx, objects(t, text+"\n---\n"+other), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := <-freed; err != nil {
		t.Error(err)
	}
	events.want(t, "created crd/boats."+group, "created boat/default/two")
}

// TestDeletedMeanwhile: a definition that somebody deletes while it is waited for is told to be.
func TestDeletedMeanwhile(t *testing.T) {
	c, _ := connect(t)
	absent := objects(t, definition("absent.example.com", "absent"))
	known := failure(t, c.establish(t.Context(), absent, time.Hour))
	if known.Where != "crd/boats.absent.example.com" || !strings.Contains(known.What, "deleted") {
		t.Errorf("error is %v, want one that says it was deleted", known)
	}
}

// TestGoingVersions: whether a version may go depends on what is stored.
func TestGoingVersions(t *testing.T) {
	for name, test := range map[string]struct{ live, stored, wanted, want string }{
		"stays":      {"v1* v2", "v1", "v1* v2", ""},
		"comes":      {"v1*", "v1", "v1* v2", ""},
		"not stored": {"v1 v2*", "v2", "v2*", "v1 may go: no object"},
		"stored":     {"v1 v2*", "v1 v2", "v2*", "v1 may go once no object is stored in it: all are stored as v2 first"},
	} {
		t.Run(name, func(t *testing.T) {
			live := hulls(t, test.live, noConversion)
			if err := unstructured.SetNestedStringSlice(live.Object, strings.Fields(test.stored), "status", "storedVersions"); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(goingVersions(hulls(t, test.wanted, noConversion), live), "|"); !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestUnservedVersion: a version that is only unserved goes on to hold objects.
func TestUnservedVersion(t *testing.T) {
	live, wanted := hulls(t, "v1* v2", noConversion), hulls(t, "v1* v2", noConversion)
	versionOf(wanted, "v2")["served"] = false
	if got := goingVersions(wanted, live); len(got) != 1 || !strings.HasPrefix(got[0], "v2 is not served any more") {
		t.Errorf("got %q", got)
	}
}
