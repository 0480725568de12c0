package prove

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestVerdicts: each plan has one, by what its run came to and by what has become of its finding.
func TestVerdicts(t *testing.T) {
	plan := func(name string) Plan {
		return Plan{Kind: Lost, Point: Point{Verb: "create", Resource: "services", Name: name, Nth: 1}}
	}
	names := []string{"held", "unstruck", "found", "once", "accepted", "later"}
	var plans []Plan
	for _, name := range names {
		plans = append(plans, plan(name))
	}
	r := &Report{Scenario: Scenario{Steps: []Step{{Name: "one"}}}, Results: resultsOf(plans)}
	ref := referenceOf()
	ref.scenario = r.Scenario
	for i, p := range plans[:5] {
		var s *Symptom
		if i > 1 {
			s = &lacksOne
		}
		r.note(ref, p, &outcome{struck: i != 1, elapsed: time.Second}, s)
	}
	r.Findings = []Finding{{ID: "1", Plans: plans[2:3], Confirmed: true}, {ID: "2", Plans: plans[3:4]}, {ID: "3", Plans: plans[4:5], Confirmed: true, Accepted: "known"}}
	var got []Verdict
	for _, result := range r.Results {
		v, _ := r.Verdict(result)
		got = append(got, v)
	}
	if want := []Verdict{Held, Unstruck, Found, SeenOnce, Accepted, NotRun}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	encoded, err := json.Marshal(r.JSON())
	want := fmt.Sprintf(`{"id":%q,"kind":"lost","step":1,"request":"create services found #1","outcome":"finding","finding":"1"}`, plans[2].ID())
	if err != nil || !strings.Contains(string(encoded), want) {
		t.Errorf("%s is not in\n%s: %v", want, encoded, err)
	}
}

// TestAroundFault: of a long timeline what is around the fault is kept, and no line is longer than a line or two.
func TestAroundFault(t *testing.T) {
	all := make([]Moment, 1000)
	for i := range all {
		all[i].Step = i
		all[i].Text = strings.Repeat("x", 1000)
	}
	if kept := aroundFault(all); len(kept) != momentsBefore+momentsBehind || kept[len(kept)-1].Step != 999 {
		t.Errorf("without a fault %d moments until %d", len(kept), kept[len(kept)-1].Step)
	}
	all[100].Fault = true
	kept := aroundFault(all)
	if len(kept) != momentsBefore+momentsBehind || kept[0].Step != 90 || !kept[momentsBefore].Fault || len(kept[0].Text) > 300 {
		t.Errorf("%d moments from %d, lines of %d bytes", len(kept), kept[0].Step, len(kept[0].Text))
	}
	if kept := aroundFault(all[:3]); len(kept) != 3 {
		t.Errorf("%d of 3 moments", len(kept))
	}
	if kept := aroundFault(nil); len(kept) != 0 {
		t.Errorf("%d moments of nothing", len(kept))
	}
}
