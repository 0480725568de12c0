package explain

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Glance is the state of an object by its own status alone, and what that says. It asks no cluster: [Explain] knows
// more.
func Glance(object *unstructured.Unstructured, now time.Time) (State, string) {
	m := &member{object: object, state: Ready}
	if object.GetDeletionTimestamp() != nil {
		return Deleting, ""
	}
	s := &scene{now: now}
	s.conditions(m)
	if m.kind() == podKind && m.state != Ready {
		statuses, _, _ := unstructured.NestedSlice(object.Object, "status", "containerStatuses")
		for _, item := range statuses {
			fields, _ := item.(map[string]any)
			reason, _, _ := unstructured.NestedString(fields, "state", "waiting", "reason")
			if reason != "" && reason != "ContainerCreating" && reason != "PodInitializing" {
				m.state, m.text = NotReady, plainly(reason)
			}
		}
	}
	return m.state, m.text
}
