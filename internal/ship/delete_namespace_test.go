package ship

import "testing"

func TestFullNamespace(t *testing.T) {
	held := objects(t, `apiVersion: v1
kind: Namespace
metadata: {name: harbour}
status:
  phase: Terminating
  conditions:
  - {type: NamespaceDeletionDiscoveryFailure, status: "False", message: "All resources successfully discovered"}
  - {type: NamespaceContentRemaining, status: "True", message: "Some resources are remaining: boats.ship.example.com has 1 resource instances"}
  - {type: NamespaceFinalizersRemaining, status: "True", message: "Some content in the namespace has finalizers remaining: example.com/moor in 1 resource instances"}`)[0]
	want := "Some resources are remaining: boats.ship.example.com has 1 resource instances\n" +
		"Some content in the namespace has finalizers remaining: example.com/moor in 1 resource instances"
	if got := fullNamespace(held); got != want {
		t.Errorf("it says %q", got)
	}
}
