package ship

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// liveConfig is an object that was applied, as the cluster has it.
const liveConfig = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  resourceVersion: "7"
  generation: 1
  managedFields:
  - {manager: slipway, operation: Apply, time: "2026-01-02T03:04:05Z", fieldsV1: {"f:data": {"f:key": {}}}}
  - {manager: controller, operation: Update, subresource: status, time: "2026-01-02T03:04:05Z", fieldsV1: {"f:status": {}}}
data: {key: value}
status: {seen: 1}
`

func TestChanges(t *testing.T) {
	for name, test := range map[string]struct {
		object string // what is applied
		change func(after map[string]any)
		want   bool
	}{
		"nothing":               {"", func(after map[string]any) { meta(after)["resourceVersion"] = "7" }, false},
		"a status meanwhile":    {"", func(after map[string]any) { after["status"] = map[string]any{"seen": int64(2)} }, false},
		"a status that is ours": {"status: {seen: 2}", func(after map[string]any) { after["status"] = map[string]any{"seen": int64(2)} }, true},
		"an owner meanwhile": {"", func(after map[string]any) {
			fieldsOf(after, 1)["fieldsV1"] = map[string]any{"f:status": map[string]any{"f:seen": map[string]any{}}}
		}, false},
		"a generation meanwhile": {"", func(after map[string]any) { meta(after)["generation"] = int64(2) }, false},
		"our time alone":         {"", func(after map[string]any) { fieldsOf(after, 0)["time"] = "2026-01-02T03:04:06Z" }, false},
		"a value":                {"", func(after map[string]any) { after["data"] = map[string]any{"key": "other"} }, true},
		"a label":                {"", func(after map[string]any) { meta(after)["labels"] = map[string]any{"a": "b"} }, true},
		"a field that is now ours": {"", func(after map[string]any) {
			fieldsOf(after, 0)["fieldsV1"] = map[string]any{"f:data": map[string]any{"f:key": map[string]any{}}, "f:metadata": map[string]any{}}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := parsed(t, liveConfig), parsed(t, liveConfig)
			after.SetResourceVersion("8")
			test.change(after.Object)
			if got := changes(parsed(t, test.object), before, after, FieldManager); got != test.want {
				t.Errorf("changes: %v", got)
			}
		})
	}
}

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

func meta(object map[string]any) map[string]any { return object["metadata"].(map[string]any) }

// fieldsOf is the entry of an object's nth manager.
func fieldsOf(object map[string]any, n int) map[string]any {
	return meta(object)["managedFields"].([]any)[n].(map[string]any)
}
