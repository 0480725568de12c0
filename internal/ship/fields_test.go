package ship

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TestOnlyFields: a field that the set ends at is whole, items of lists are found by keys and by values, and their
// order stays.
func TestOnlyFields(t *testing.T) {
	set := &fieldpath.Set{}
	const owned = `{"f:spec":{
		"f:selector":{},
		"f:containers":{"k:{\"name\":\"b\"}":{".":{},"f:name":{},"f:image":{}},"k:{\"name\":\"a\"}":{".":{},"f:name":{}},"k:{\"name\":\"gone\"}":{"f:name":{}}},
		"f:tags":{"v:\"y\"":{}},"f:args":{},"f:empty":{},"f:gone":{}}}`
	if err := set.FromJSON(strings.NewReader(owned)); err != nil {
		t.Fatal(err)
	}
	container := func(name string) map[string]any {
		return map[string]any{"name": name, "image": "x", "pullPolicy": "Always"}
	}
	live := map[string]any{
		"status": map[string]any{"ready": true},
		"spec": map[string]any{
			"selector": map[string]any{"app": "x"}, "containers": []any{container("a"), container("injected"), container("b")},
			"tags": []any{"x", "y"}, "args": []any{"1", "2"}, "empty": map[string]any{}, "replicas": int64(3),
		},
	}
	want := map[string]any{"spec": map[string]any{
		"selector": map[string]any{"app": "x"}, "containers": []any{map[string]any{"name": "a"}, map[string]any{"name": "b", "image": "x"}},
		"tags": []any{"y"}, "args": []any{"1", "2"}, "empty": map[string]any{},
	}}
	if diff := cmp.Diff(want, onlyFields(live, set)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
