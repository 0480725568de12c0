package expression

import (
	"encoding/json"
	"strings"
	"testing"
)

// objects are two Pods and a Deployment, as the store reports them.
func objects(t testing.TB) []map[string]any {
	t.Helper()
	var all []map[string]any
	err := json.Unmarshal([]byte(`[
		{"kind": "Pod", "metadata": {"name": "a", "labels": {"role": "primary"}}},
		{"kind": "Pod", "metadata": {"name": "b", "labels": {"role": "replica"}}},
		{"kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 2, "ratio": 0.5, "items": ["x", "y"]}, "status": null}]`), &all)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestHolds(t *testing.T) {
	all := objects(t)
	for text, want := range map[string]bool{
		"objects.filter(o, o.kind == 'Pod' && o.metadata.labels.role == 'primary').size() < 2":  true,
		"objects.exists_one(o, o.kind == 'Pod')":                                                false,
		"object.spec.replicas + 1 == 3":                                                         true,
		"object.spec.replicas == size(object.spec.items)":                                       true,
		"object.spec.ratio < 1":                                                                 true,
		"'x' in object.spec.items && sets.contains(object.spec.items, ['y'])":                   true,
		"object.status == null":                                                                 true,
		"has(object.status.phase)":                                                              false,
		"object.?spec.?gone.orValue(4) == 4":                                                    true,
		"object.spec.items.join('-') == 'x-y' && object.metadata.name.matches('^d$')":           true,
		"objects.map(o, o.metadata.name).sort() == ['a', 'b', 'd']":                             true,
		"nothing == null":                                                                       true,
		"object.metadata.name":                                                                  false,
		"object.none == 1":                                                                      false,
		"objects.all(a, objects.all(b, objects.all(c, objects.all(d, a.kind != 'x' || true))))": true,
	} {
		e, err := Compile(text, "object", "objects", "nothing")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := e.Holds(map[string]any{"object": all[2], "objects": all, "nothing": map[string]any(nil)})
		wrong := text == "object.metadata.name" || text == "object.none == 1"
		if got != want || (err != nil) != wrong {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestCompile(t *testing.T) {
	for text, want := range map[string]string{
		"object.":      "column 8 of the expression: Syntax error",
		"objekt.a":     "column 1 of the expression: undeclared reference to 'objekt'",
		"size(object)": "its value is of the type int; it has to be true or false",
		"1 + 'a' == 2": "found no matching overload",
		"":             "Syntax error",
		strings.Repeat("(", 3000) + "true" + strings.Repeat(")", 3000): "recursion",
	} {
		if _, err := Compile(text, "object"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %s", text, err, want)
		}
	}
}

// TestCost: an expression that takes long is an error.
func TestCost(t *testing.T) {
	many := make([]map[string]any, 300)
	for i := range many {
		many[i] = map[string]any{"kind": "Pod"}
	}
	e, err := Compile("objects.all(a, objects.all(b, objects.all(c, a.kind == c.kind)))", "objects")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Holds(map[string]any{"objects": many}); err == nil || !strings.Contains(err.Error(), "cost limit") {
		t.Error(err)
	}
}

func BenchmarkHolds(b *testing.B) {
	many := make([]map[string]any, 100)
	for i := range many {
		many[i] = map[string]any{"kind": "Pod", "metadata": map[string]any{"name": "a", "labels": map[string]any{"role": "replica"}}}
	}
	e, err := Compile("objects.filter(o, o.kind == 'Pod' && o.metadata.labels.role == 'primary').size() < 2", "objects")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if holds, err := e.Holds(map[string]any{"objects": many}); !holds || err != nil {
			b.Fatal(holds, err)
		}
	}
}
