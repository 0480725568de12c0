package prove

import (
	"encoding/json"
	"testing"

	"github.com/slipway-dev/slipway/internal/protocol"
)

func changed(key string, revision int64, object string) protocol.Report {
	return protocol.Report{Name: protocol.EventChanged, Key: key, Revision: revision, Created: object != "", Deleted: object == "", Object: json.RawMessage(object)}
}

// TestEffect: a write is effective if the store has changed between its revisions, by the object that it is about.
func TestEffect(t *testing.T) {
	w := newWorld(nil, Kinds{{Kind: "Service"}: {Resource: "services"}})
	w.begin(10)
	w.enter("d", "")
	for _, r := range []protocol.Report{
		changed("/services/specs/default/old", 9, `{"kind":"Service"}`), // before the reset
		{Name: protocol.EventBegun, Door: "d", Serial: 1},
		changed("/services/specs/default/blog", 11, `{"kind":"Service","metadata":{"namespace":"default","name":"blog"}}`),
		changed("/leases/default/l", 12, `{"kind":"Lease"}`),
		{Name: protocol.EventRequest, Door: "d", Serial: 1, Verb: "create", Resource: "services", Namespace: "default", ObjectName: "blog", Status: 201, ResourceVersion: "11", Began: 10, Ended: 12},
		{Name: protocol.EventRequest, Door: "d", Serial: 2, Verb: "update", Resource: "services", Namespace: "default", ObjectName: "blog", Status: 200, ResourceVersion: "11", Began: 12, Ended: 13},
		changed("/services/specs/default/blog", 14, ""),
		{Name: protocol.EventRequest, Door: "d", Serial: 3, Verb: "delete", Resource: "services", Namespace: "default", ObjectName: "blog", Status: 200, Began: 13, Ended: 14},
		{Name: protocol.EventRequest, Door: "d", Serial: 4, Verb: "delete", Resource: "services", Namespace: "other", ObjectName: "blog", Status: 404, Began: 13, Ended: 14},
		{Name: protocol.EventRequest, Door: "gone", Serial: 5, Verb: "delete", Resource: "services", Namespace: "default", ObjectName: "blog", Status: 200, Began: 13, Ended: 14},
	} {
		w.see(r)
	}
	requests, changes := w.history()
	if len(requests) != 4 || len(changes) != 2 {
		t.Fatalf("%d requests, %d changes", len(requests), len(changes))
	}
	for i, want := range []Request{{effective: true, created: true}, {}, {effective: true, deleted: true}, {}} {
		if r := requests[i]; r.effective != want.effective || r.created != want.created || r.deleted != want.deleted {
			t.Errorf("request %d: %+v", i+1, r)
		}
	}
	if objects, gone := w.existing(); len(objects) != 0 || len(gone) != 0 {
		t.Errorf("%v %v are left", objects, gone)
	}
	if p := w.pulse("d"); p.inFlight != 0 {
		t.Errorf("%d requests are in flight", p.inFlight)
	}
}

// TestFaultsOfRequests: which request has met a fault is known, whether that is reported before the answer or after it.
func TestFaultsOfRequests(t *testing.T) {
	w := newWorld(nil, Kinds{{Kind: "Service"}: {Resource: "services"}})
	w.enter("d", "")
	answer := func(serial int64) protocol.Report {
		return protocol.Report{Name: protocol.EventRequest, Door: "d", Serial: serial, Verb: "create", Resource: "pods", ObjectName: "p"}
	}
	struck := func(serial int64) protocol.Report {
		return protocol.Report{Name: protocol.EventStruck, Door: "d", Serial: serial, Fault: "lost"}
	}
	for _, r := range []protocol.Report{answer(1), struck(1), struck(2), answer(2), answer(3)} {
		w.see(r)
	}
	requests, _ := w.history()
	for i, want := range []string{"lost", "lost", ""} {
		if requests[i].fault != want {
			t.Errorf("request %d: %q, want %q", i+1, requests[i].fault, want)
		}
	}
	for range 2 {
		if _, ok := w.nextStruck(); !ok {
			t.Error("a fault is not known")
		}
	}
}

// TestDeletionsByOthers: an object that was being deleted goes by itself, whatever is deleted meanwhile.
func TestDeletionsByOthers(t *testing.T) {
	w := newWorld(nil, Kinds{{Kind: "Pod"}: {Resource: "pods"}})
	w.begin(10)
	w.enter("d", "")
	pod := func(more string) string { return `{"kind":"Pod","metadata":{"namespace":"d","name":"p"` + more + `}}` }
	deletion := func(serial, began, ended int64) protocol.Report {
		return protocol.Report{Name: protocol.EventRequest, Door: "d", Serial: serial, Verb: "deletecollection", Resource: "pods", Namespace: "d", Status: 200, Began: began, Ended: ended}
	}
	for _, r := range []protocol.Report{
		changed("/pods/d/p", 11, pod("")), changed("/pods/d/p", 12, pod(`,"deletionTimestamp":"2026-01-02T15:04:05Z"`)), deletion(1, 11, 12),
		changed("/pods/d/p", 13, ""), deletion(2, 12, 13),
	} {
		w.see(r)
	}
	requests, _ := w.history()
	if !requests[0].deleted || requests[1].effective {
		t.Errorf("%+v, %+v", requests[0], requests[1])
	}
}

// TestEarlyReports: what is written right after a reset counts, also if it is reported before the reset is answered.
func TestEarlyReports(t *testing.T) {
	w := newWorld(nil, nil)
	w.begin(1)
	w.see(changed("/configmaps/default/old", 2, `{"kind":"ConfigMap"}`))
	w.see(changed("/configmaps/default/old", 3, ""))
	w.see(changed("/configmaps/default/new", 4, `{"kind":"ConfigMap"}`))
	w.begin(3)
	if objects, gone := w.existing(); len(objects) != 1 || len(gone) != 0 {
		t.Errorf("%v, gone %v", objects, gone)
	}
	if _, changes := w.history(); len(changes) != 1 || changes[0].key != "/configmaps/default/new" {
		t.Errorf("%+v", changes)
	}
}

// TestMistaken: a process may delete what it has been shown, or has made itself, and nothing that has got the name
// since.
func TestMistaken(t *testing.T) {
	service := func(uid string) string {
		return `{"kind":"Service","metadata":{"namespace":"d","name":"blog","uid":"` + uid + `"}}`
	}
	request := func(serial int64, verb, name, version string, began, ended int64) protocol.Report {
		return protocol.Report{Name: protocol.EventRequest, Door: "door", Serial: serial, Verb: verb, Resource: "services", Namespace: "d", ObjectName: name, Status: 200, ResourceVersion: version, Began: began, Ended: ended}
	}
	shown := func(version string) protocol.Report {
		return protocol.Report{Name: protocol.EventDelivered, Door: "door", Resource: "services", Namespace: "d", ObjectName: "blog", ResourceVersion: version}
	}
	const key = "/services/specs/d/blog"
	first, gone, second := changed(key, 11, service("one")), changed(key, 12, ""), changed(key, 13, service("two"))
	// What the watch shows later was not known.
	deletion := []protocol.Report{{Name: protocol.EventBegun, Door: "door", Serial: 9}, changed(key, 14, ""), request(9, "delete", "blog", "", 13, 14), shown("13")}
	some := request(1, "list", "", "11", 11, 11)
	some.Selects = true
	absent := request(1, "get", "blog", "", 12, 12)
	absent.Status = 404
	for name, test := range map[string]struct {
		before []protocol.Report
		wrong  bool
	}{
		"the watch lags":          {[]protocol.Report{first, shown("11"), gone, second}, true},
		"the list was of before":  {[]protocol.Report{first, request(1, "list", "", "11", 11, 11), gone, second}, true},
		"the watch is up to date": {[]protocol.Report{first, shown("11"), gone, shown("12"), second, shown("13")}, false},
		"it has made it itself":   {[]protocol.Report{first, shown("11"), gone, second, request(1, "create", "blog", "13", 12, 13)}, false},
		"it has looked":           {[]protocol.Report{first, shown("11"), gone, second, request(1, "get", "blog", "13", 13, 13)}, false},
		"it has listed some":      {[]protocol.Report{first, some, gone, second}, false},
		"it has found none":       {[]protocol.Report{first, shown("11"), gone, absent, second}, false},
		"it has deleted it":       {[]protocol.Report{first, shown("11"), gone, request(1, "delete", "blog", "", 11, 12), second}, false},
		"it knows none":           {[]protocol.Report{first, gone, second}, false},
		"it knows that it went":   {[]protocol.Report{first, shown("11"), gone, shown("12"), second}, false},
	} {
		w := newWorld(nil, Kinds{{Kind: "Service"}: {Resource: "services"}})
		w.begin(10)
		w.enter("door", "")
		for _, r := range append(test.before, deletion...) {
			w.see(r)
		}
		w.history()
		if got := w.mistaken(); (got != "") != test.wrong {
			t.Errorf("%s: %q", name, got)
		}
	}
}
