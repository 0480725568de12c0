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

// An election is the record by which operators elect their leader.
type election struct {
	record   map[string]any
	operator string // its name; empty: any may have written it
}

// stands notes the Lease by which a client stands for election.
func (w *world) stands(r protocol.Report) {
	if r.Group == "coordination.k8s.io" && r.Resource == "leases" && (r.Verb == "create" || r.Verb == "update" || r.Verb == "patch") {
		record := map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"namespace": r.Namespace, "name": r.ObjectName}}
		w.elections[leasesKey+r.Namespace+"/"+r.ObjectName] = election{record, w.clients[r.Door].operator}
	}
}

// elects reports whether a change is of a record by which operators elect their leader, which changes by the clock.
func (w *world) elects(key string, object map[string]any) bool {
	if annotations, _ := field(object, "metadata", "annotations").(map[string]any); annotations[leaderAnnotation] != nil {
		w.elections[key] = election{record: identity(object)}
	}
	return w.elections[key].record != nil
}

// forElection reports whether a request is about such a record.
func (w *world) forElection(r *Request) bool {
	for _, e := range w.elections {
		if record := e.record; record["kind"] == w.kinds[r.of] && metadata(record, "namespace") == r.namespace && metadata(record, "name") == r.name {
			return true
		}
	}
	return false
}

// terms are the records that keep the next process of an operator from leading, until they run out.
func (w *world) terms(operator string) (records []map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(w.elections)) {
		if e := w.elections[key]; e.operator == operator || e.operator == "" {
			records = append(records, e.record)
		}
	}
	return records
}
