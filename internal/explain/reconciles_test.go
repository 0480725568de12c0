package explain

import (
	"fmt"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// past makes entries of one operator, with times in milliseconds.
type past struct {
	entries entries
	began   time.Time
}

func (p *past) add(ms int, kind, verb, name string, change func(*protocol.RecordEntry)) {
	e := entry(uint64(len(p.entries)+1), kind, verb, "boats", name)
	e.Logged = p.began.Add(time.Duration(ms) * time.Millisecond)
	e.At = e.Logged.Add(3 * time.Millisecond)
	e.By.Door = "door-1"
	if change != nil {
		change(&e)
	}
	p.entries = append(entries{e}, p.entries...)
}

func (p *past) line(ms int, id, name, text, trace string) {
	p.add(ms, protocol.RecordLine, "", name, func(e *protocol.RecordEntry) {
		e.Operator, e.Controller, e.Reconcile, e.By.Door, e.By.Trace = "op", "boat", id, "", trace
		e.Message = fmt.Sprintf("2026-11-30T10:00:00Z\tDEBUG\t%s\t{\"reconcileID\": %q, \"error\": \"no wind\"}", text, id)
	})
}

func (p *past) request(ms int, verb, name string, status int, revision int64, trace string) {
	p.add(ms, protocol.RecordRequest, verb, name, func(e *protocol.RecordEntry) {
		e.Status, e.Revision, e.LatencyMs, e.By.Trace = status, revision, 2, trace
	})
}

// TestReconcilesOf: requests belong to the reconcile of their trace, else to the one in whose time they fall, and their
// writes and refusals with them. What may be of two belongs to none.
func TestReconcilesOf(t *testing.T) {
	p := past{began: time.Now().Add(-time.Minute).Truncate(time.Second)}
	p.add(0, protocol.RecordDelivery, "", "first", func(e *protocol.RecordEntry) { e.Type = "ADDED" })
	p.line(1, "r1", "first", "Reconciling", "")
	p.request(5, "update", "first", 200, 77, "")
	p.add(8, protocol.RecordWrite, "update", "first", func(e *protocol.RecordEntry) { e.Revision, e.By.Door = 77, "" })
	p.line(101, "r1", "first", "Reconcile successful", "")
	p.line(500, "r2", "first", "Reconciling", "")
	p.line(501, "r3", "second", "Reconciling", "aaaa")
	p.request(510, "get", "third", 404, 0, "")                   // of r2 or r3
	p.request(511, "update", "third", 409, 0, "00-aaaa-bbbb-01") // of r3 by its trace
	p.request(512, "patch", "second", 200, 78, "")               // of r3 by its object
	p.request(513, "update", "leases", 200, 79, "")              // of no reconcile
	p.entries[0].Object.Resource, p.entries[0].Object.Group = "leases", "coordination.k8s.io"
	p.line(600, "r2", "first", "Reconciler error", "")
	p.line(601, "r3", "second", "Reconcile done, requeueing after 1s", "aaaa")
	p.line(900, "r4", "first", "Reconciling", "")

	got := reconcilesOf(p.entries)
	summary := ""
	for _, r := range got.all {
		summary += fmt.Sprintf("%s %s %dms %q %d/%d/%d woken by %q %s\n", r.ID, r.Object.Name, max(0, r.Ended.Sub(r.Began).Milliseconds()), r.Result, r.Requests, r.Writes, r.Lines, r.Woken, r.Error)
	}
	want := `r1 first 100ms "success" 1/1/2 woken by "ADDED boats ns/first" ` + `
r2 first 100ms "error" 0/0/2 woken by "" no wind
r3 second 100ms "requeue after" 2/2/2 woken by "" ` + `
r4 first 0ms "" 0/0/1 woken by "the error of the reconcile before" ` + `
`
	if summary != want {
		t.Errorf("got\n%swant\n%s", summary, want)
	}
	of := map[string]string{}
	for _, d := range got.deeds {
		if d.Kind != protocol.RecordLine && d.Reconcile != "" {
			of[fmt.Sprint(d.Kind, " ", d.By.Verb, " ", d.Object.Name)] = fmt.Sprint(d.Reconcile, " ", d.Inferred)
		}
	}
	for what, want := range map[string]string{
		"write update first": "r1 true", "request update first": "r1 true", "request update third": "r3 false", "request patch second": "r3 true",
		"request get third": "", "request update leases": "", "delivery  first": "r1 true",
	} {
		if of[what] != want {
			t.Errorf("%s belongs to %q, want %q", what, of[what], want)
		}
	}
	c := got.controllers()[0]
	if c.Reconciles != 4 || c.LongestMs != 100 || c.Results[Succeeded] != 1 || c.Results[Failed] != 1 || c.PerMinute > 4.1 {
		t.Errorf("got %+v", c)
	}
}

// TestBursts: requests of an operator whose log names no reconciles are inferred to be of one if they come together.
func TestBursts(t *testing.T) {
	p := past{began: time.Now().Add(-time.Minute)}
	p.request(0, "get", "first", 200, 5, "")
	p.request(100, "update", "first", 200, 6, "")
	p.request(2000, "update", "first", 200, 7, "")
	got := reconcilesOf(p.entries)
	if len(got.all) != 2 || !got.all[0].Inferred || got.all[0].Requests != 2 || got.all[0].Writes != 1 || len(got.controllers()) != 0 {
		t.Errorf("got %+v", got.all)
	}
}

// TestCutOff: a reconcile whose manager was killed ends where the next one of its object begins.
func TestCutOff(t *testing.T) {
	p := past{began: time.Now().Add(-time.Minute)}
	p.line(0, "r1", "first", "Reconciling", "")
	p.line(1000, "r2", "first", "Reconciling", "")
	p.request(1100, "update", "other", 200, 5, "")
	p.line(1200, "r2", "first", "Reconcile successful", "")
	got := reconcilesOf(p.entries)
	if r1, r2 := got.all[0], got.all[1]; r1.Ended != r2.Began || r1.Result != "" || r1.Requests != 0 || r2.Requests != 1 {
		t.Errorf("got %+v, %+v", r1.Reconcile, r2.Reconcile)
	}
}

// TestSharedTrace: what two reconciles name is no proof, and another trace is proof against.
func TestSharedTrace(t *testing.T) {
	p := past{began: time.Now().Add(-time.Minute)}
	p.line(0, "r1", "first", "Reconciling", "aaaa")
	p.line(10, "r2", "second", "Reconciling", "aaaa")
	p.request(100, "update", "second", 200, 5, "00-aaaa-bbbb-01")
	p.request(110, "update", "first", 200, 6, "00-cccc-bbbb-01")
	p.line(300, "r1", "first", "Reconcile successful", "aaaa")
	p.line(310, "r2", "second", "Reconcile successful", "aaaa")
	got := reconcilesOf(p.entries)
	for _, d := range got.deeds {
		if d.Kind == protocol.RecordRequest && (d.Revision == 5 && (d.Reconcile != "r2" || !d.Inferred) || d.Revision == 6 && d.Reconcile != "") {
			t.Errorf("request %d belongs to %q, inferred %t", d.Revision, d.Reconcile, d.Inferred)
		}
	}
}

// TestCached: what fills a cache is no growth, nor is what comes again.
func TestCached(t *testing.T) {
	p := past{began: time.Now().Add(-time.Minute)}
	event := func(ms int, what, name string) {
		p.add(ms, protocol.RecordDelivery, "", name, func(e *protocol.RecordEntry) { e.Type = what })
	}
	p.request(0, "watch", "", 200, 0, "")
	event(10, "ADDED", "first")
	event(20_000, "ADDED", "second")
	event(20_001, "ADDED", "third")
	event(20_002, "DELETED", "third")
	event(20_003, "DELETED", "first")
	p.request(30_000, "watch", "", 200, 0, "")
	event(30_001, "ADDED", "second")
	if got := reconcilesOf(p.entries).cached(operator); got["boats"] != 1 || len(got) != 1 {
		t.Error(got)
	}
}

// TestPercentile: of few reconciles, 95 % are all.
func TestPercentile(t *testing.T) {
	c := ControllerWork{took: []time.Duration{time.Second, time.Millisecond}}
	if c.sum(time.Minute); c.MedianMs != 1 || c.P95Ms != 1000 || c.LongestMs != 1000 {
		t.Errorf("got %+v", c)
	}
}

// TestBackToBack: of two reconciles of one object that follow each other at once, a request belongs to the one within
// whose time it was made.
func TestBackToBack(t *testing.T) {
	p := past{began: time.Now().Add(-time.Minute)}
	p.line(0, "r1", "first", "Reconciling", "")
	p.request(5, "update", "first", 200, 5, "")
	p.line(8, "r1", "first", "Reconcile successful", "")
	p.line(9, "r2", "first", "Reconciling", "")
	p.request(12, "update", "first", 200, 6, "")
	p.line(16, "r2", "first", "Reconcile successful", "")
	p.request(17, "update", "first", 200, 7, "") // its line was late, perhaps
	got := reconcilesOf(p.entries)
	if got.all[0].Requests != 1 || got.all[1].Requests != 2 {
		t.Errorf("got %+v, %+v", got.all[0].Reconcile, got.all[1].Reconcile)
	}
}
