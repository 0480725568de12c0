package ship

import (
	"errors"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
)

// threeBoats is a migration from v1 to v2 with three objects.
func threeBoats(t *testing.T, c *Cluster, group string) (w migrating, definition string) {
	t.Helper()
	first := versioned(group, "{strategy: None}", "v1+")
	remove(t, c, first)
	mustApply(t, c, first, ApplyOptions{})
	for _, name := range []string{"one", "two", "three"} {
		if err := launch(t, c, group, "v1", name); err != nil {
			t.Fatal(err)
		}
	}
	definition = versioned(group, "{strategy: None}", "v1", "v2+")
	mustApply(t, c, definition, ApplyOptions{})
	return migrating{cluster: c, definition: at(t, c, definition), to: "v2"}, definition
}

// TestMigrateBySlipway: where nothing else does it, each object is written, and the old version may go.
func TestMigrateBySlipway(t *testing.T) {
	c, _ := connect(t)
	w, definition := threeBoats(t, c, "byslipway.example.com")
	if is := storing(t, c, definition); is != "v2[v1 v2]None" {
		t.Fatalf("storing: %s", is)
	}
	n, err := w.bySlipway(t.Context())
	if err != nil || n != 3 {
		t.Fatalf("%d objects, %v", n, err)
	}
	if err := w.writeDown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if is := storing(t, c, definition); is != "v2[v2]None" {
		t.Errorf("storing: %s", is)
	}
	mustApply(t, c, versioned("byslipway.example.com", "{strategy: None}", "v2+"), ApplyOptions{})
}

// TestMigrateBesideChange: nothing is written down of a definition that has changed since the objects were stored.
func TestMigrateBesideChange(t *testing.T) {
	c, _ := connect(t)
	w, definition := threeBoats(t, c, "besidechange.example.com")
	mergeInto(t, c, definition, map[string]any{"spec": map[string]any{"names": map[string]any{"shortNames": []string{"bo"}}}})
	known, ok := errors.AsType[*report.Error](w.writeDown(t.Context()))
	if !ok || known.What != "the definition has changed meanwhile" {
		t.Errorf("got %v", known)
	}
	if is := storing(t, c, definition); is != "v2[v1 v2]None" {
		t.Errorf("storing: %s", is)
	}
}

// TestMigrateKeepsFields: nothing is stored in a version that would drop fields, where nothing converts.
func TestMigrateKeepsFields(t *testing.T) {
	c, _ := connect(t)
	_, definition := threeBoats(t, c, "keepsfields.example.com")
	schema := func(field string) map[string]any {
		return map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": map[string]any{field: map[string]any{"type": "string"}}}}}}
	}
	mergeInto(t, c, definition, map[string]any{"spec": map[string]any{"versions": []any{
		map[string]any{"name": "v1", "served": true, "storage": false, "schema": schema("sail")},
		map[string]any{"name": "v2", "served": true, "storage": true, "schema": schema("engine")},
	}}})
	_, err := c.Migrate(t.Context(), Migration{Kind: objects(t, definition)[0].GetName(), Timeout: time.Minute})
	known, ok := errors.AsType[*report.Error](err)
	if !ok || known.What != "objects would lose fields that v1 has and v2 has not: spec.sail" {
		t.Errorf("got %v", err)
	}
	if is := storing(t, c, definition); is != "v2[v1 v2]None" {
		t.Errorf("storing: %s", is)
	}
}

// TestMigrateEndsInTime: a migration that takes too long says how to go on.
func TestMigrateEndsInTime(t *testing.T) {
	c, _ := connect(t)
	_, definition := threeBoats(t, c, "endsintime.example.com")
	_, err := c.Migrate(t.Context(), Migration{Kind: objects(t, definition)[0].GetName(), Timeout: time.Nanosecond})
	if !errors.Is(err, errMigrationTimeout) {
		t.Errorf("got %v", err)
	}
}
