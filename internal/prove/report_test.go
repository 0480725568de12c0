package prove

import (
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"
	"time"
)

// found is a report with findings of the symptoms, which came again.
func found(symptoms ...Symptom) *Report {
	e := &exploration{known: map[string]*Finding{}, report: &Report{Scenario: Scenario{Steps: []Step{{Name: "one"}, {Name: "two"}}}, Plans: 9, Of: 9}}
	for _, s := range symptoms {
		e.known[s.key()] = &Finding{ID: shortID(s.key()), Plans: []Plan{{Kind: Lost, Point: Point{Verb: "create", Resource: "services", Name: "blog", Nth: 1}}}, Symptom: s, Confirmed: true,
			Writes: []Write{{"create services blog → 201 ← lost", true}}}
	}
	e.collect()
	return e.report
}

var (
	lacksBoth = Symptom{Oracle: Diverged, Differences: []Difference{{Object: "Service a", Want: presence}, {Object: "Service b", Want: presence}}}
	lacksOne  = Symptom{Oracle: Diverged, Differences: []Difference{{Object: "Service b", Want: presence}}}
	laterOn   = Symptom{Oracle: Diverged, Step: 1, Differences: []Difference{{Object: "Service b", Field: "spec.x", Want: "1", Got: "2"}}}
)

// TestOneCause: a finding whose differences are among those of another one, after the same step, is a part of it.
func TestOneCause(t *testing.T) {
	r := found(lacksBoth, lacksOne, laterOn)
	if len(r.Findings) != 2 || len(r.Findings[0].Plans) != 2 || r.Findings[0].ID != shortID(lacksBoth.key()) {
		t.Errorf("%+v", r.Findings)
	}
}

// TestAccept: an accepted finding does not count until its day, and one that does not come any more is named.
func TestAccept(t *testing.T) {
	r := found(lacksBoth, laterOn)
	day := func(text string) time.Time {
		d, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	all := []Acceptance{{shortID(lacksBoth.key()), "known", day("2026-05-02")}, {shortID(laterOn.key()), "known", day("2026-05-01")}, {"00000000", "gone", day("2030-01-01")}}
	expired, unknown := r.Accept(all, day("2026-05-01").Add(time.Hour))
	if !slices.Equal(expired, []string{shortID(laterOn.key())}) || !slices.Equal(unknown, []string{"00000000"}) {
		t.Errorf("expired %q, unknown %q", expired, unknown)
	}
	if n := r.New(); len(n) != 1 || n[0].ID != shortID(laterOn.key()) {
		t.Errorf("%+v", n)
	}
	text := r.Text()
	for _, part := range []string{"accepted " + shortID(lacksBoth.key()), "finding " + shortID(laterOn.key()), "Service b spec.x: 2, should be 1", "> create services blog → 201 ← lost", "1 new findings"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	suite := r.JUnit()
	if encoded, err := xml.Marshal(suite); err != nil || suite.Failures != 1 || suite.Tests != 3 {
		t.Errorf("%s %v", encoded, err)
	}
	if encoded, err := json.Marshal(r.JSON()); err != nil || !strings.Contains(string(encoded), `"accepted":"known"`) {
		t.Errorf("%s %v", encoded, err)
	}
}

// TestShares: each plan belongs to one share, the same in each run.
func TestShares(t *testing.T) {
	times := map[int]int{}
	for n := range 800 {
		p := Plan{Kind: Lost, Point: Point{Verb: "create", Resource: "services", Name: "s", Nth: n}}
		times[p.share(8)]++
	}
	for share := 1; share <= 8; share++ {
		if times[share] < 50 || times[share] > 150 {
			t.Errorf("share %d has %d of 800 plans", share, times[share])
		}
	}
}

// TestDiagnosis: each symptom of each fault has a text, and those whose causes differ have others.
func TestDiagnosis(t *testing.T) {
	yes, no := true, false
	stays := []Difference{{Object: "ConfigMap dns/x", Got: presence}}
	texts := map[string]bool{}
	for _, f := range []Finding{
		{Plans: []Plan{{Kind: Lost}}, Symptom: lacksOne},
		{Plans: []Plan{{Kind: Failure}}, Symptom: Symptom{Oracle: Diverged, Healed: &yes}},
		{Plans: []Plan{{Kind: Stale}}, Symptom: Symptom{Oracle: Diverged, Healed: &yes}},
		{Plans: []Plan{{Kind: Merged}}, Symptom: Symptom{Oracle: Diverged, Healed: &yes}},
		{Plans: []Plan{{Kind: KilledAfter}}, Symptom: Symptom{Oracle: Diverged, Healed: &no, Differences: stays}},
		{Plans: []Plan{{Kind: Failure}}, Symptom: Symptom{Oracle: Diverged, Healed: &no}},
		{Plans: []Plan{{Kind: Stale}}, Symptom: Symptom{Oracle: Extra}},
		{Plans: []Plan{{Kind: KilledAfter}}, Symptom: Symptom{Oracle: Extra}},
		{Plans: []Plan{{Kind: Lost}}, Symptom: Symptom{Oracle: Extra, Details: []string{"create configmaps default/a: 2 times, without the fault 1", "delete configmaps default/a: 1 times, without the fault 0"}}},
		{Plans: []Plan{{Kind: Restarted}}, Symptom: Symptom{Oracle: WritesAgain}},
		{Plans: []Plan{{Kind: Failure}}, Symptom: Symptom{Oracle: Ended}},
	} {
		text := f.Diagnosis()
		if text == "" || texts[text] {
			t.Errorf("%s, %s: %q", f.Plans[0].Kind, f.Symptom.Oracle, text)
		}
		texts[text] = true
	}
}

// TestTimeline: requests and what was stored by them, in order, by steps.
func TestTimeline(t *testing.T) {
	now := time.Now()
	before, after := object(t, `{"kind":"Site","metadata":{"name":"blog"},"spec":{"n":1}}`), object(t, `{"kind":"Site","metadata":{"name":"blog"},"spec":{"n":2}}`)
	r := &Request{at: now.Add(2 * time.Second), verb: "update", of: resource{"web.example.com", "sites"}, name: "blog", status: 200, effective: true, began: 4, ended: 5, fault: "lost"}
	o := &outcome{requests: []*Request{r}, changes: []change{
		{at: now, key: "/sites/blog", revision: 3, object: before, created: true},
		{at: now.Add(time.Second), key: "/sites/blog", revision: 5, object: after, before: before},
		{at: now.Add(3 * time.Second), step: 1, key: "/sites/blog", revision: 6, before: after, deleted: true},
	}}
	ref := referenceOf()
	ref.canon.stable = map[string]bool{"/blog": true}
	ref.scenario.Steps = []Step{{Name: "one"}, {Name: "two"}}
	want := []string{
		"step 1: one",
		"   0.000s   stored  Site blog, by others",
		"   1.000s   stored  Site blog (spec.n=2), by operator",
		"   2.000s operator  update sites.web.example.com blog → 200 ← lost",
		"step 2: two",
		"   3.000s   stored  deleted Site blog, by others",
	}
	if got := timeline(ref, o); !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// TestSymptomsOfOneCause: how often an object was made does not part two symptoms, which object does.
func TestSymptomsOfOneCause(t *testing.T) {
	extra := func(detail string) Symptom { return Symptom{Oracle: Extra, Details: []string{detail}} }
	eight, six, others := extra("create pods d/w-*: 8 times, without the fault 4"), extra("create pods d/w-*: 6 times, without the fault 4"), extra("create pods d/h-*: 8 times, without the fault 4")
	if !eight.comesIn(&six) || eight.comesIn(&others) {
		t.Errorf("%q, %q, %q", eight.key(), six.key(), others.key())
	}
}

// TestNumbers: what differs by a number has one cause.
func TestNumbers(t *testing.T) {
	lacks := func(name string) Symptom {
		return Symptom{Oracle: Diverged, Differences: []Difference{{Object: name, Want: presence}}}
	}
	if lacks("Pod default/a-0").key() != lacks("Pod default/a-11").key() || lacks("Pod default/a-0").key() == lacks("Pod default/b-0").key() {
		t.Error("symptoms of alike objects differ, or those of others do not")
	}
}

// TestWholeRun: a symptom of a run as a whole has a step, so that it can be described.
func TestWholeRun(t *testing.T) {
	steps := []Step{{Name: "one"}, {Name: "two"}}
	r := &run{worker: &worker{scenario: Scenario{Steps: steps}, world: newWorld(nil, nil)}, ref: &Reference{}, outcome: &outcome{}, step: len(steps)}
	back := func(observed float64) map[string]any {
		return map[string]any{"kind": "A", "metadata": map[string]any{"name": "a", "uid": "1"}, "status": map[string]any{"observedGeneration": observed}}
	}
	r.outcome.changes = []change{{object: back(1), before: back(2)}}
	r.outcome.requests = []*Request{{status: 403, verb: "get", of: resource{"", "pods"}}}
	r.judge()
	r.outcome.requests = nil
	r.outcome.symptoms = append(r.outcome.symptoms, Symptom{Oracle: Forbidden})
	report := found(r.outcome.symptoms...)
	if text := report.Text(); len(r.outcome.symptoms) != 2 || !strings.Contains(text, "finding") {
		t.Errorf("%+v\n%s", r.outcome.symptoms, text)
	}
	if s := r.outcome.symptoms[0]; s.Oracle != Forbidden || s.Step != 1 {
		t.Errorf("%+v", s)
	}
}

// TestRestlessAgain: a cluster that does not come to rest is the same finding, whatever the count.
func TestRestlessAgain(t *testing.T) {
	a := Symptom{Oracle: Restless, Details: []string{"A a was changed 100 times"}}
	b := Symptom{Oracle: Restless, Details: []string{"A a was changed 2503 times"}, Differences: []Difference{{Object: "B b", Want: presence}}}
	if !a.comesIn(&b) || !b.comesIn(&a) {
		t.Error("it does not come again")
	}
}

// TestNamedAfter: a name is a part of another one between dashes or dots.
func TestNamedAfter(t *testing.T) {
	for name, want := range map[string]bool{"acme": true, "acme-shard-0": true, "default.acme": true, "acmes": false, "latest": false, "x-acme": true, "acmeacme-acme": true} {
		if got := namedAfter(name, "acme"); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
