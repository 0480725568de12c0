package prove

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// TestElections: records by which operators elect their leader are no part of a state and no change, also where a
// ConfigMap has the record; what they are is known.
func TestElections(t *testing.T) {
	w := newWorld(nil, Kinds{{Kind: "ConfigMap"}: {Resource: "configmaps"}})
	w.begin(10)
	w.enter("d", "")
	before := w.pulse("d").changed
	lock := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"lock","annotations":{"control-plane.alpha.kubernetes.io/leader":"{}"}}}`
	for _, r := range []protocol.Report{
		changed("/leases/kube-system/other", 11, `{"kind":"Lease"}`), // of no client
		{Name: protocol.EventRequest, Door: "d", Serial: 1, Verb: "create", Group: "coordination.k8s.io", Resource: "leases", Namespace: "default", ObjectName: "own", Status: 201},
		changed("/configmaps/default/lock", 12, lock),
		{Name: protocol.EventRequest, Door: "d", Serial: 2, Verb: "update", Resource: "configmaps", Namespace: "default", ObjectName: "lock", Status: 200, ResourceVersion: "12", Began: 11, Ended: 12},
		changed("/configmaps/default/lock", 13, ""),
	} {
		w.see(r)
	}
	if requests, changes := w.history(); len(requests) != 0 || len(changes) != 0 {
		t.Errorf("%d requests, %d changes", len(requests), len(changes))
	}
	if objects, gone := w.existing(); len(objects) != 0 || len(gone) != 0 {
		t.Errorf("%v %v are left", objects, gone)
	}
	if !w.pulse("d").changed.Equal(before) {
		t.Error("it is not at rest")
	}
	var names []string
	for _, record := range w.terms("") {
		names = append(names, identify(text(record["kind"]), metadata(record, "namespace"), metadata(record, "name")))
	}
	if len(names) != 2 || names[0] != "ConfigMap default/lock" || names[1] != "Lease default/own" {
		t.Errorf("the records are %q", names)
	}
	w.enter("other", "second")
	w.see(protocol.Report{Name: protocol.EventRequest, Door: "other", Serial: 1, Verb: "create", Group: "coordination.k8s.io", Resource: "leases", Namespace: "default", ObjectName: "of-second", Status: 201})
	if terms := w.terms("third"); len(terms) != 2 { // the lock is not known to be of one, and the operator of own has no name
		t.Errorf("the records of another operator are %v", terms)
	}
	if terms := w.terms("second"); len(terms) != 3 || metadata(terms[1], "name") != "of-second" {
		t.Errorf("the records of the second operator are %v", terms)
	}
}

// TestIgnoredObjects: a cluster is at rest although an object changes that the scenario ignores.
func TestIgnoredObjects(t *testing.T) {
	w := newWorld(nil, Kinds{})
	w.ignore = []Ignore{{Kind: "ConfigMap", Name: "default/beat-*"}, {Kind: "Secret", Fields: []string{"data"}}}
	w.begin(10)
	w.enter("d", "")
	before := w.pulse("d").changed
	w.see(changed("/configmaps/default/beat-1", 11, `{"kind":"ConfigMap","metadata":{"namespace":"default","name":"beat-1"}}`))
	w.see(changed("/configmaps/default/beat-1", 12, ""))
	if !w.pulse("d").changed.Equal(before) {
		t.Error("an object that is ignored counts")
	}
	w.see(changed("/secrets/default/s", 13, `{"kind":"Secret","metadata":{"namespace":"default","name":"s"}}`))
	if w.pulse("d").changed.Equal(before) {
		t.Error("an object of which only fields are ignored does not count")
	}
}
