package ship

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestStrategyOfAnother: how a Deployment is rolled out changes by force alone if someone else has set it.
func TestStrategyOfAnother(t *testing.T) {
	c, _ := connect(t)
	recreated := strings.Replace(mounting("rolled", "containers: [{name: c, image: none}]"), "spec:\n", "spec:\n  replicas: 0\n  strategy: {type: Recreate}\n", 1)
	theirs := objects(t, strings.Replace(recreated, "{type: Recreate}", "{type: RollingUpdate, rollingUpdate: {maxSurge: 2}}", 1))[0]
	remove(t, c, recreated)
	resource, _, err := c.locate(t.Context(), theirs, 0)
	if err == nil {
		_, err = resource.Apply(t.Context(), theirs.GetName(), theirs, metav1.ApplyOptions{FieldManager: "helm"})
	}
	if err != nil {
		t.Fatal(err)
	}
	rolls := func() string {
		kind, _, _ := unstructured.NestedString(at(t, c, recreated).Object, "spec", "strategy", "type")
		return kind
	}
	o := ApplyOptions{Set: &Set{Project: "rolled", Namespace: "default"}}
	if _, err := c.Preview(t.Context(), objects(t, recreated), o); !strings.Contains(failure(t, err).Err.Error(), `conflict with "helm"`) {
		t.Errorf("preview: %v", err)
	}
	if err := c.Apply(t.Context(), objects(t, recreated), o); !strings.Contains(failure(t, err).Err.Error(), `conflict with "helm"`) || rolls() != "RollingUpdate" {
		t.Errorf("%v; strategy %s", err, rolls())
	}
	o.Force = true
	if mustApply(t, c, recreated, o); rolls() != "Recreate" {
		t.Errorf("by force: strategy %s", rolls())
	}
}
