package rehearsal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

func unstructuredFrom(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: object(t, text)}
}

// said are findings in short.
func said(findings []Finding) (lines []string) {
	for _, f := range findings {
		line := string(f.Class) + " " + f.Object
		if f.Field != "" {
			line += " " + f.Field
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// comparing is a rehearsal that knows the beginning.
func comparing(before *snapshot) *upgrade {
	return &upgrade{before: before, bare: newSnapshot()}
}

// boats is a snapshot with an object of a kind with two versions, of which the text has the content.
func boats(t testing.TB, content string) *snapshot {
	s := newSnapshot()
	boat := kind{definition: "boats.sea.example.com", plural: "boats", namespaced: true, versions: []string{"v1", "v2"}, storage: "v1"}
	boat.Group, boat.Kind = "sea.example.com", "Boat"
	for _, version := range boat.versions {
		s.addResource(boat, version, unstructuredFrom(t, "apiVersion: sea.example.com/"+version+"\nkind: Boat\n"+content))
	}
	return s
}

const boat = "metadata: {name: one, namespace: sea, uid: a, labels: {l: x}, annotations: {a: x}, finalizers: [old]}\n" +
	"spec: {sails: 2, flag: red}\nstatus: {phase: Afloat, crew: 3, at: 2026-01-01T00:00:00Z, conditions: [{type: Ready, status: 'True'}], list: [x]}\n"

// TestCompareResource: what a user has lost is found, and what operators and servers change by themselves is not.
func TestCompareResource(t *testing.T) {
	for name, test := range map[string]struct {
		old, new string // what to replace in the object
		want     string
	}{
		"nothing":            {"", "", ""},
		"field gone":         {"flag: red", "", "field-lost boat/sea/one spec.flag"},
		"field changed":      {"sails: 2", "sails: 3", "field-changed boat/sea/one spec.sails"},
		"field added":        {"sails: 2", "sails: 2, masts: 1", ""},
		"label changed":      {"l: x", "l: y", "field-changed boat/sea/one metadata.labels.l"},
		"annotation changed": {"a: x", "a: y", ""},
		"annotation gone":    {"annotations: {a: x}, ", "", "field-lost boat/sea/one metadata.annotations.a"},
		"new object":         {"uid: a", "uid: b", "object-replaced boat/sea/one"},
		"status changed":     {"crew: 3", "crew: 4", ""},
		"status zero":        {"crew: 3", "crew: 0", "status-lost boat/sea/one status.crew"},
		"status gone":        {"phase: Afloat, ", "", "status-lost boat/sea/one status.phase"},
		"status time":        {"at: 2026-01-01T00:00:00Z", "at: 2026-01-02T00:00:00Z", ""},
		"status list":        {"list: [x]", "list: []", ""},
		"condition":          {"status: 'True'", "status: 'False'", "status-lost boat/sea/one status.conditions[Ready].status"},
		"condition gone":     {"[{type: Ready, status: 'True'}]", "[]", "status-lost boat/sea/one status.conditions[Ready].status|status-lost boat/sea/one status.conditions[Ready].type"},
		"finalizer renamed":  {"finalizers: [old]", "finalizers: [old, new]", "finalizer-renamed boat/sea/one metadata.finalizers"},
		"finalizer replaced": {"finalizers: [old]", "finalizers: [new]", "finalizer-added boat/sea/one metadata.finalizers"},
		"finalizer gone":     {"finalizers: [old]", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(boat, test.old) {
				t.Fatalf("no %q", test.old)
			}
			before, after := boats(t, boat), boats(t, strings.Replace(boat, test.old, test.new, 1))
			if got := strings.Join(said(comparing(before).compare(upgradePhase, after)), "|"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestCompareLost: an object that is gone is found, unless its kind cannot be read, which the client says.
func TestCompareLost(t *testing.T) {
	before, after := boats(t, boat), newSnapshot()
	if got := said(comparing(before).compare(upgradePhase, after)); !slices.Equal(got, []string{"object-lost boat/sea/one"}) {
		t.Errorf("got %q", got)
	}
	after.failed["Boat v1"], after.failed["Boat v2"] = errors.New("no"), errors.New("no")
	if got := said(comparing(before).compare(upgradePhase, after)); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

// TestStatusThatWanes: a field of the status that has come and gone before may do so again.
func TestStatusThatWanes(t *testing.T) {
	before, after := boats(t, boat), boats(t, strings.Replace(boat, "phase: Afloat, ", "", 1))
	u, w := comparing(before), &watcher{changes: map[string][]time.Time{}, waning: map[types.UID]map[string]bool{}}
	w.seen(unstructuredFrom(t, "kind: Boat\n"+boat), unstructuredFrom(t, "kind: Boat\n"+strings.Replace(boat, "phase: Afloat, ", "", 1)), true)
	u.wanes = w.wane()
	if got := said(u.compare(upgradePhase, after)); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

// others is a snapshot of objects that are none of the operator's kinds.
func others(t testing.TB, objects ...string) *snapshot {
	s := newSnapshot()
	for _, text := range objects {
		o := unstructuredFrom(t, text)
		s.others[identityOf(o)] = o
	}
	return s
}

// TestCompareOthers: what the operator has made stays, as do its pods.
func TestCompareOthers(t *testing.T) {
	const (
		service  = "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: sea, uid: a, ownerReferences: [{kind: Boat, name: one, uid: o}]}}"
		ready    = "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: s-1, namespace: sea, labels: {kubernetes.io/service-name: s}}, endpoints: [{conditions: {ready: true}}]}"
		unready  = "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: s-1, namespace: sea, labels: {kubernetes.io/service-name: s}}, endpoints: [{conditions: {ready: false}}]}"
		set      = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: sea, uid: d}, spec: {template: {spec: {a: 1}}}}"
		changed  = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: sea, uid: d}, spec: {template: {spec: {a: 2}}}}"
		pod      = "{apiVersion: v1, kind: Pod, metadata: {name: db-0, namespace: sea, uid: a, ownerReferences: [{kind: StatefulSet, name: db, uid: d}]}, status: {containerStatuses: [{restartCount: 1}]}}"
		again    = "{apiVersion: v1, kind: Pod, metadata: {name: db-0, namespace: sea, uid: a, ownerReferences: [{kind: StatefulSet, name: db, uid: d}]}, status: {containerStatuses: [{restartCount: 2}]}}"
		replaced = "{apiVersion: v1, kind: Pod, metadata: {name: db-0, namespace: sea, uid: b, ownerReferences: [{kind: StatefulSet, name: db, uid: d}]}}"
		job      = "{apiVersion: v1, kind: Pod, metadata: {name: j-0, namespace: sea, uid: a, ownerReferences: [{kind: Job, name: j, uid: j}]}}"
	)
	for name, test := range map[string]struct {
		before, after []string
		want          string
	}{
		"same":        {[]string{service, ready, set, pod}, []string{service, ready, set, pod}, ""},
		"gone":        {[]string{service}, nil, "object-lost service/sea/s"},
		"anew":        {[]string{service}, []string{strings.Replace(service, "uid: a", "uid: b", 1)}, "object-replaced service/sea/s"},
		"second":      {[]string{service}, []string{service, strings.Replace(service, "name: s,", "name: t,", 1)}, "doubled service/sea/t"},
		"no endpoint": {[]string{service, ready}, []string{service, unready}, "no-endpoints service/sea/s"},
		"restarted":   {[]string{set, pod}, []string{set, again}, "pod-restarted pod/sea/db-0"},
		"replaced":    {[]string{set, pod}, []string{changed, replaced}, "pods-replaced statefulset/sea/db"},
		"field lost":  {[]string{set}, []string{strings.Replace(set, "a: 1", "b: 1", 1)}, "dependent-changed statefulset/sea/db"},
		"job is over": {[]string{job}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := others(t, test.before...), others(t, test.after...)
			got := comparing(before).compare(upgradePhase, after)
			if text := strings.Join(said(got), "|"); text != test.want {
				t.Errorf("got  %s\nwant %s", text, test.want)
			}
			if test.want == "pods-replaced statefulset/sea/db" && !strings.Contains(got[0].Text, "template has changed: spec.a") {
				t.Errorf("it says %s", got[0].Text)
			}
		})
	}
}

// TestGaps: the time without service is that from the first refused request to the next one that is answered, in
// whatever order answers come, and however many objects there are. What is refused in the end has no gap.
func TestGaps(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(100, 0).Add(time.Duration(ms) * time.Millisecond) }
	no := errors.New("no")
	boat := func(name string) target {
		return target{object: unstructuredFrom(t, "{kind: Boat, metadata: {name: "+name+"}}"), version: "v1", verb: read}
	}
	s := service{targets: []target{boat("one"), boat("two"), boat("bad")}, last: []error{nil, nil, no}}
	s.outcomes = []outcome{{of: 0, begin: at(0)}, {1, at(30), 0, no, no}, {0, at(20), 0, no, no}, {of: 1, begin: at(10)}, {0, at(40), 0, no, no},
		{of: 1, begin: at(70)}, {2, at(71), 0, no, no}, {1, at(60), 0, no, no}, {of: 0, begin: at(90)}}
	r := newReport(Rehearsal{})
	r.addService(upgradePhase, s, nil, time.Second)
	if got := r.Service[0]; got.Gap != 50*time.Millisecond || got.Refused != 5 || got.Requests != 9 {
		t.Errorf("the service was %+v", got)
	}
	if got, want := said(r.Findings), []string{"no-service boat/one", "read-refused boat/bad"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRecovered: what was refused before is no gap until it is answered, and one after that.
func TestRecovered(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(100, 0).Add(time.Duration(ms) * time.Millisecond) }
	no := errors.New("no")
	one := target{object: unstructuredFrom(t, "{kind: Boat, metadata: {name: one}}"), version: "v1", verb: create}
	s := service{targets: []target{one}, last: []error{nil}, outcomes: []outcome{{0, at(0), 0, no, no}, {0, at(50), 0, no, no}, {of: 0, begin: at(60)}, {0, at(80), 0, no, no}, {of: 0, begin: at(90)}}}
	if got := s.recovered(map[string]bool{one.name(): true}).gaps(); len(got) != 1 || got[0].lasted != 10*time.Millisecond || got[0].refused != 1 {
		t.Errorf("got %+v", got)
	}
	if got := s.recovered(nil).gaps(); len(got) != 1 || got[0].lasted != 60*time.Millisecond || got[0].refused != 3 {
		t.Errorf("got %+v", got)
	}
}

// flaky is a resource whose first reads fail.
type flaky struct {
	dynamic.ResourceInterface
	failures int
}

func (f *flaky) Get(context.Context, string, metav1.GetOptions, ...string) (*unstructured.Unstructured, error) {
	if f.failures--; f.failures >= 0 {
		return nil, errors.New("closed")
	}
	return &unstructured.Unstructured{}, nil
}

// TestRepeated: a request that is answered when it is repeated is a note, and one that is not is no service.
func TestRepeated(t *testing.T) {
	for failures, want := range []string{"", "note: repeated: boat/one (v1): read as v1 was refused once and answered when repeated (1 requests): closed", "problem: no-service: boat/one (v1)"} {
		c := &client{targets: []target{{unstructuredFrom(t, "{kind: Boat, metadata: {name: one}}"), "v1", read, &flaky{failures: failures}}}}
		c.request(t.Context(), 0)
		r := newReport(Rehearsal{})
		r.addService(upgradePhase, service{c.targets, c.outcomes, []error{nil}}, nil, time.Second)
		text := ""
		for _, f := range r.Findings {
			text += f.String()
		}
		c.outcomes = append(c.outcomes, outcome{refusal: errors.New("at its end")})
		r.addService(upgradePhase, service{c.targets, c.outcomes, []error{nil}}, nil, time.Second)
		if failures == 2 && len(r.Findings) != 1 {
			t.Errorf("the end of a gap is found, too: %v", r.Findings)
		}
		if !strings.HasPrefix(text, want) || (want == "") != (text == "") || r.Service[0].Refused != min(failures, 1) {
			t.Errorf("%d failures: %q, %+v", failures, text, r.Service[0])
		}
	}
}

// TestInTurn: each sort of request comes as often.
func TestInTurn(t *testing.T) {
	var targets []target
	for _, name := range []string{"a", "b"} {
		for _, v := range []verb{read, write} {
			targets = append(targets, target{object: unstructuredFrom(t, "{kind: Boat, metadata: {name: "+name+"}}"), version: "v1", verb: v})
		}
	}
	var got []string
	for _, one := range inTurn(targets) {
		got = append(got, one.name())
	}
	if want := []string{"boat/a v1 read", "boat/a v1 write", "boat/b v1 read", "boat/b v1 write"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestFailure: an error is over when managers have not reported it for as long as it lasted.
func TestFailure(t *testing.T) {
	begin := time.Unix(100, 0)
	for _, test := range []struct {
		count     int
		last, now time.Duration
		want      bool
	}{{10, 4 * time.Second, 6 * time.Second, true}, {10, 300 * time.Millisecond, 5 * time.Second, false}, {2, 5 * time.Second, 5 * time.Second, false}} {
		f := failure{count: test.count, first: begin, last: begin.Add(test.last)}
		if got := f.goesOn(begin.Add(test.now)); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// TestReport: a consequence is no finding of its own, problems come first, and all forms of the report agree.
func TestReport(t *testing.T) {
	r := newReport(Rehearsal{From: Revision{Name: "v1"}, To: Revision{Name: "v2"}})
	r.add(
		Finding{Phase: upgradePhase, Class: PodsReplaced, Object: "deployment/sea/a", Text: "1 of its pods were replaced"},
		Finding{Phase: upgradePhase, Class: FieldLost, Object: "boat/sea/one", Field: "spec.flag", Versions: []string{"v1"}, Text: "was red, is gone", Fatal: true},
	)
	r.add(Finding{Phase: upgradePhase, Class: LossyConversion, Object: "boat/sea/one", Field: "spec.flag", Versions: []string{"v2"}, Text: "written as v2, it was red and is gone", Fatal: true})
	r.add(Finding{Phase: backPhase, Class: PodsReplaced, Object: "deployment/sea/a", Text: "1 of its pods were replaced"})
	r.finish()
	if got, want := said(r.Findings), []string{"lossy-conversion boat/sea/one spec.flag", "pods-replaced deployment/sea/a"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if r.Passed || !r.WayBack || r.Fatal() != 1 {
		t.Errorf("passed %v, way back %v, fatal %d", r.Passed, r.WayBack, r.Fatal())
	}
	if want := "problem: lossy-conversion: boat/sea/one spec.flag (v2): written as v2, it was red and is gone\nnote: pods-replaced: deployment/sea/a: 1 of its pods were replaced\n"; !strings.HasPrefix(r.Text(), want) {
		t.Errorf("the text is\n%s", r.Text())
	}
	if suite := r.JUnit(); suite.Failures != 1 || suite.Tests != len(suite.Cases) {
		t.Errorf("the suite is %+v", suite)
	}
}
