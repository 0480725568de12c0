package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// entries is a record that answers each question with its entries of a wanted kind, the newest first.
type entries []protocol.RecordEntry

func (all entries) Record(_ context.Context, q protocol.RecordQuery) (page protocol.RecordPage, err error) {
	for _, e := range all {
		switch {
		case q.Refused && e.Status < 400, q.Object != nil && (e.Object == nil || e.Object.Name != q.Object.Name || e.Object.Resource != q.Object.Resource):
		case len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind), q.User != "" && (e.By == nil || e.By.User != q.User), (q.Owner != "") != (e.Object != nil && e.Object.Kind == childKind):
		default:
			page.Entries = append(page.Entries, e)
		}
	}
	return page, nil
}

// childKind is the kind of entries of what the object owns.
const childKind = "Hull"

const operator = "system:serviceaccount:ns:op"

// entry is of the operator, a moment ago.
func entry(seq uint64, kind, verb, resource, name string) protocol.RecordEntry {
	return protocol.RecordEntry{
		Seq: seq, Kind: kind, At: time.Now().Add(time.Duration(seq) * time.Millisecond), By: &protocol.RecordAuthor{User: operator, Manager: "manager", Verb: verb},
		Object: &protocol.RecordObject{Resource: resource, Namespace: "ns", Name: name},
	}
}

func refusal(seq uint64, verb, resource, name string, status int, message string) protocol.RecordEntry {
	e := entry(seq, protocol.RecordRefusal, verb, resource, name)
	e.Status, e.Message = status, message
	return e
}

func boatScene(t *testing.T) *scene {
	t.Helper()
	boat := object(t, "{apiVersion: example.com/v1, kind: Boat, metadata: {name: first, namespace: ns}}")
	served := ship.Served{GroupVersionResource: schema.GroupVersionResource{Resource: "boats"}, Kind: "Boat", Singular: "boat", Namespaced: true}
	return &scene{
		now: time.Now(), served: served, kinds: kinds{served}, members: []*member{{object: boat, state: InProgress}}, definition: object(t, "{metadata: {name: boats}}"),
		ref: report.ObjectRef{Kind: "Boat", Namespace: "ns", Name: "first"},
	}
}

// TestRefusals: what was refused is a cause until the same request succeeds, and for this object alone.
func TestRefusals(t *testing.T) {
	const forbidden = `pods is forbidden: User "op" cannot create resource "pods"`
	read := refusal(5, "watch", "boats", "", 403, "")
	read.Kind = protocol.RecordRequest
	elsewhere := refusal(5, "list", "boats", "", 403, "")
	elsewhere.Object = &protocol.RecordObject{Resource: "boats", Namespace: "other"}
	again := entry(7, protocol.RecordRequest, "watch", "boats", "")
	again.Status = 200
	secrets := refusal(5, "list", "secrets", "", 403, "")
	secrets.Kind, secrets.Object.Namespace = protocol.RecordRequest, ""
	failed := func(name string) protocol.RecordEntry {
		e := entry(4, protocol.RecordLine, "", "", name)
		e.Level, e.Message, e.By = "error", `Reconciler error {"error": "pods is forbidden: User \"op\" cannot create resource \"pods\" in API group"}`, nil
		return e
	}
	person := refusal(5, "apply", "boats", "first", 409, "Apply failed with 1 conflict")
	person.By.User = "jane"
	for name, test := range map[string]struct {
		record entries
		want   string // of the causes
	}{
		"nothing":                      {nil, ""},
		"of the object":                {entries{refusal(5, "update", "boats", "first", 422, "it is immutable")}, "Refused: the request of manager (ServiceAccount ns/op) to update boats was refused: it is immutable"},
		"of another":                   {entries{refusal(5, "update", "boats", "second", 422, "no")}, ""},
		"of a child by its name":       {entries{refusal(5, "create", "pods", "first-0", 403, forbidden)}, "to create pods was refused; its role needs +kubebuilder:rbac:groups=\"\",resources=pods,verbs=create: pods is forbidden"},
		"of an unrelated one":          {entries{refusal(5, "create", "pods", "firstborn", 403, forbidden)}, ""},
		"without a name, by strangers": {entries{refusal(5, "create", "pods", "", 403, forbidden)}, ""},
		"without a name":               {entries{refusal(5, "create", "pods", "", 403, forbidden), entry(4, protocol.RecordWrite, "patch", "boats", "first")}, "to create pods was refused"},
		"repeated with success":        {entries{entry(6, protocol.RecordWrite, "update", "boats", "first"), refusal(5, "update", "boats", "first", 422, "no")}, ""},
		"success came before":          {entries{refusal(5, "update", "boats", "first", 422, "no"), entry(4, protocol.RecordWrite, "update", "boats", "first")}, "to update boats was refused: no"},
		"not found":                    {entries{refusal(5, "delete", "boats", "first", 404, "not found")}, ""},
		"a conflict":                   {entries{refusal(5, "update", "boats", "first", 409, "modified")}, ""},
		"many conflicts": {entries{
			refusal(9, "update", "boats", "first", 409, "modified"), refusal(8, "update", "boats", "first", 409, ""), refusal(7, "update", "boats", "first", 409, ""),
			refusal(6, "update", "boats", "first", 409, ""), refusal(5, "update", "boats", "first", 409, ""),
		}, "to update boats was refused, 5 times: modified"},
		"a read":                                    {entries{read}, "Forbidden: the request of manager (ServiceAccount ns/op) to watch boats was refused; its role needs +kubebuilder:rbac:groups=\"\",resources=boats,verbs=watch: status 403"},
		"a read in another namespace":               {entries{elsewhere}, ""},
		"a read that is allowed":                    {entries{again, read}, ""},
		"a read of another kind, and it is at work": {entries{secrets, entry(4, protocol.RecordDelivery, "", "boats", "first")}, ""},
		"a read of another kind, unseen":            {entries{secrets, entry(4, protocol.RecordDelivery, "", "boats", "first")}, "to list secrets was refused"},
		"a read of another kind by others, unseen":  {entries{secrets}, ""},
		"without a name, of another by the log":     {entries{refusal(5, "create", "pods", "", 403, forbidden), entry(6, protocol.RecordWrite, "patch", "boats", "first"), failed("second")}, ""},
		"without a name, of this by the log":        {entries{refusal(5, "create", "pods", "", 403, forbidden), entry(6, protocol.RecordWrite, "patch", "boats", "first"), failed("second"), failed("first")}, "to create pods was refused"},
		"a quota":                                   {entries{refusal(5, "create", "pods", "first-0", 403, "exceeded quota: small")}, "QuotaExceeded: the request of manager (ServiceAccount ns/op) to create pods was refused: exceeded quota: small"},
		"a person":                                  {entries{person}, "Refused: the request of manager (jane) to apply boats was refused"},
	} {
		t.Run(name, func(t *testing.T) {
			s := boatScene(t)
			s.members[0].unseen = strings.HasSuffix(name, "unseen")
			s.recall(t.Context(), test.record, Question{})
			var got []string
			for _, c := range s.causes {
				got = append(got, c.Reason+": "+c.Message)
			}
			if text := strings.Join(got, "\n"); text != test.want && (test.want == "" || len(got) != 1 || !strings.Contains(text, test.want)) {
				t.Errorf("got %q, want %q", text, test.want)
			}
			if name == "a person" && s.causes[0].weight != admission {
				t.Error("a person who is refused is no reason for an object not to be ready")
			}
		})
	}
}

// TestWriters: two that undo each other's field are named; two that each write their own are not.
func TestWriters(t *testing.T) {
	write := func(seq uint64, by, path, before, after string) protocol.RecordEntry {
		e := entry(seq, protocol.RecordWrite, "update", "boats", "first")
		e.By.Manager = by
		e.Changes = []protocol.RecordChange{{Path: path, Before: json.RawMessage(before), After: json.RawMessage(after)}}
		return e
	}
	var fight, peace entries
	for i := range uint64(4) {
		fight = append(entries{write(2*i+1, "right", ".spec.sails", "2", "3"), write(2*i, "left", ".spec.sails", "3", "2")}, fight...)
		peace = append(entries{write(2*i+1, "right", ".status.a", "1", "2"), write(2*i, "left", ".spec.sails", "3", "2")}, peace...)
	}
	s := boatScene(t)
	s.recall(t.Context(), fight, Question{})
	if causes := s.members[0].causes; len(causes) != 1 || causes[0].Reason != "TwoWriters" || !strings.Contains(causes[0].Message, "left") || !strings.Contains(causes[0].Message, ".spec.sails") {
		t.Errorf("got %+v", causes)
	}
	// What a controller writes of a child is no answer to what another one writes of the object.
	var apart entries
	for i := range uint64(5) {
		child := write(4*i+1, "right", ".status.ready", "", "1")
		child.Object = &protocol.RecordObject{Resource: "hulls", Namespace: "ns", Name: "first", Kind: childKind}
		gone := write(4*i+3, "left", ".status.ready", "1", "")
		apart = append(entries{gone, write(4*i+2, "left", ".status.ready", "", "1"), child}, apart...)
	}
	s = boatScene(t)
	s.members[0].object.SetUID("uid")
	if s.recall(t.Context(), apart, Question{}); len(s.members[0].causes) > 0 || len(s.changes) != 12 {
		t.Errorf("got %+v, %d changes", s.members[0].causes, len(s.changes))
	}
	s = boatScene(t)
	if s.recall(t.Context(), peace, Question{}); len(s.members[0].causes) > 0 {
		t.Errorf("got %+v", s.members[0].causes)
	}
}

// TestNeverAtRest: an object that is written all the time is named with its writer.
func TestNeverAtRest(t *testing.T) {
	var record entries
	for i := range uint64(40) {
		e := entry(i, protocol.RecordWrite, "update", "boats", "first")
		e.Changes = []protocol.RecordChange{{Path: ".status.seen", Before: json.RawMessage(fmt.Sprint(i)), After: json.RawMessage(fmt.Sprint(i + 1))}}
		record = append(entries{e}, record...)
	}
	s := boatScene(t)
	s.recall(t.Context(), record, Question{})
	if causes := s.members[0].causes; len(causes) != 1 || causes[0].Reason != "NeverAtRest" || !strings.Contains(causes[0].Message, "40 times") {
		t.Errorf("got %+v", causes)
	}
}

// TestLines: an error of the operator about the object counts until it has written the object.
func TestLines(t *testing.T) {
	line := func(seq uint64, level, text string) protocol.RecordEntry {
		return protocol.RecordEntry{Seq: seq, At: time.Now(), Kind: protocol.RecordLine, Level: level, Message: text, Operator: "op", Controller: "boat", Object: &protocol.RecordObject{Namespace: "ns", Name: "first"}}
	}
	failed := line(5, "error", `ERROR Reconciler error {"controller": "boat", "error": "no wind: \"calm\""}`)
	for name, test := range map[string]struct {
		record entries
		want   bool
	}{
		"failed": {entries{failed}, true}, "went on": {entries{line(6, "info", "done"), failed}, false},
		"wrote":        {entries{entry(6, protocol.RecordWrite, "update", "boats", "first"), failed}, false},
		"wrote before": {entries{failed, entry(4, protocol.RecordWrite, "update", "boats", "first")}, true},
	} {
		s := boatScene(t)
		s.recall(t.Context(), test.record, Question{})
		if got := len(s.causes) == 1; got != test.want {
			t.Errorf("%s: got %+v", name, s.causes)
		} else if got && !strings.HasSuffix(s.causes[0].Message, `: no wind: "calm"`) {
			t.Errorf("%s: got %q", name, s.causes[0].Message)
		}
	}
}

// TestField: the last change of a field says who has set it.
func TestField(t *testing.T) {
	e := entry(5, protocol.RecordWrite, "patch", "boats", "first")
	e.Changes = []protocol.RecordChange{{Path: ".spec.sails", Before: json.RawMessage("2"), After: json.RawMessage("3")}}
	s := boatScene(t)
	s.recall(t.Context(), entries{e}, Question{Field: ".spec.sails"})
	if f := s.field; f == nil || string(f.Value) != "3" || f.By != "manager (ServiceAccount ns/op)" {
		t.Errorf("got %+v", f)
	}
	if len(s.changes) != 1 || s.changes[0].Fields[0] != ".spec.sails: 2 → 3" {
		t.Errorf("got %+v", s.changes)
	}
}

// TestAuthor: a client is named by what says most of it.
func TestAuthor(t *testing.T) {
	for want, by := range map[string]*protocol.RecordAuthor{
		"kubectl (jane)":              {User: "jane", Manager: "kubectl", Agent: "kubectl/v1.37 (linux)"},
		"curl (jane)":                 {User: "jane", Agent: "curl/8.1"},
		"jane":                        {User: "jane"},
		"op (ServiceAccount ns/name)": {User: "system:serviceaccount:ns:name", Manager: "op"},
		"deployment-controller":       {User: "system:apiserver", Manager: "slipway-cluster", Agent: "slipway-cluster/v1 (linux) kubernetes/$Format/deployment-controller"},
		"kube-scheduler":              {User: "system:apiserver", Agent: "kube-scheduler"},
		"an unknown client":           {Unknown: true},
	} {
		if got := author(protocol.RecordEntry{By: by}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := author(protocol.RecordEntry{Reason: "reset"}); got != "reset" {
		t.Errorf("got %q", got)
	}
}

// TestRequests: refused requests are counted by what they were about, without those that clients repeat by themselves.
func TestRequests(t *testing.T) {
	record := entries{
		refusal(9, "create", "pods", "b", 403, `User "op" cannot create resource "pods"`), refusal(8, "create", "pods", "a", 403, ""),
		refusal(7, "update", "pods", "a", 409, "modified"), refusal(6, "get", "pods", "c", 404, "not found"),
	}
	got, err := Requests(t.Context(), record, time.Now().Add(-time.Hour))
	if err != nil || len(got.Requests) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if r := got.Requests[0]; r.Times != 2 || r.Marker != `+kubebuilder:rbac:groups="",resources=pods,verbs=create` || r.User != operator {
		t.Errorf("got %+v", r)
	}
}

// TestReconciles: the work of an operator behind a front door is summed up.
func TestReconciles(t *testing.T) {
	var record entries
	add := func(kind, verb string, change func(*protocol.RecordEntry)) {
		e := entry(uint64(len(record)+1), kind, verb, "boats", "first")
		if change(&e); e.Kind != protocol.RecordWrite && e.Kind != protocol.RecordRefusal {
			e.By.Door = "door-1"
		}
		record = append(entries{e}, record...)
	}
	add(protocol.RecordDelivery, "", func(e *protocol.RecordEntry) { e.Type = "MODIFIED" })
	add(protocol.RecordRequest, "get", func(e *protocol.RecordEntry) { e.Status = 200 })
	add(protocol.RecordRequest, "update", func(e *protocol.RecordEntry) { e.Status = 200 })
	add(protocol.RecordRefusal, "update", func(e *protocol.RecordEntry) { e.Status = 409 })
	add(protocol.RecordWrite, "update", func(e *protocol.RecordEntry) { e.Idle = true })
	for range oftenWritten {
		add(protocol.RecordWrite, "update", func(*protocol.RecordEntry) {})
	}
	add(protocol.RecordLine, "", func(e *protocol.RecordEntry) {
		e.Level, e.Operator, e.Controller, e.Message = "error", "op", "boat", "2026-11-30T10:00:00Z\tERROR\tReconciler error\t{\"error\": \"no wind\"}"
	})
	work, err := Reconciles(t.Context(), record, time.Now().Add(-time.Hour))
	if err != nil || len(work.Operators) != 1 || len(work.Controllers) != 1 {
		t.Fatalf("got %+v, %v", work, err)
	}
	o := work.Operators[0]
	for name, got := range map[string][]Tally{"MODIFIED boats 1": o.Woken, "get boats 1": o.Reads, "update boats 20": o.Writes, "update boats  1": o.Idle, "update boats 1": o.Conflicts} {
		if len(got) != 1 || fmt.Sprint(got[0].What, " ", got[0].Times) != strings.ReplaceAll(name, "  ", " ") {
			t.Errorf("got %+v, want %s", got, name)
		}
	}
	if len(o.Restless) != 1 || o.Restless[0].Times != oftenWritten || work.Controllers[0].Newest != "no wind" {
		t.Errorf("got %+v, %+v", o.Restless, work.Controllers)
	}
}
