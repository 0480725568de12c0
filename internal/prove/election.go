package prove

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// leaderAnnotation has what a Lease has where client-go elects by another object.
const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader"

// leasesKey begins the keys of Leases.
const leasesKey = "/leases/"

// stands notes the Lease by which a client stands for election.
func (w *world) stands(r protocol.Report) {
	if r.Group == "coordination.k8s.io" && r.Resource == "leases" && (r.Verb == "create" || r.Verb == "update" || r.Verb == "patch") {
		w.elections[leasesKey+r.Namespace+"/"+r.ObjectName] = map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"namespace": r.Namespace, "name": r.ObjectName}}
	}
}

// elects reports whether a change is of a record by which operators elect their leader, which changes by the clock.
func (w *world) elects(key string, object map[string]any) bool {
	if annotations, _ := field(object, "metadata", "annotations").(map[string]any); annotations[leaderAnnotation] != nil {
		w.elections[key] = identity(object)
	}
	return w.elections[key] != nil
}

// forElection reports whether a request is about such a record.
func (w *world) forElection(r *Request) bool {
	for _, record := range w.elections {
		if record["kind"] == w.kinds[r.of] && metadata(record, "namespace") == r.namespace && metadata(record, "name") == r.name {
			return true
		}
	}
	return false
}

// terms are the records that keep the next process from leading, until they run out.
func (w *world) terms() (records []map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(w.elections)) {
		records = append(records, w.elections[key])
	}
	return records
}
