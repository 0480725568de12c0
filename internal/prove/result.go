package prove

import (
	"slices"
	"time"
)

// A Verdict is what has come of a plan.
type Verdict string

// The verdicts, the one that matters most first.
const (
	Found    Verdict = "finding"
	SeenOnce Verdict = "seen-once" // a symptom that did not come again
	Accepted Verdict = "accepted"
	NotRun   Verdict = "not-run"
	Unstruck Verdict = "not-struck" // the request that was to fail did not come
	Held     Verdict = "held"
)

// A Result is a plan and what the operator did.
type Result struct {
	Plan     Plan
	Ran      bool
	Struck   bool     // the fault was committed
	Symptom  *Symptom // nil: none
	Writes   []Write  // with a symptom: of the operator around the fault
	Timeline []Moment // with a symptom: around the fault
	Took     time.Duration
}

// Verdict is that of a result, and the finding that the plan belongs to, if any.
func (r *Report) Verdict(result Result) (Verdict, *Finding) {
	i := slices.IndexFunc(r.Findings, func(f Finding) bool { return slices.Contains(f.Plans, result.Plan) })
	switch {
	case i >= 0 && r.Findings[i].Accepted != "":
		return Accepted, &r.Findings[i]
	case i >= 0 && r.Findings[i].Confirmed:
		return Found, &r.Findings[i]
	case i >= 0:
		return SeenOnce, &r.Findings[i]
	case !result.Ran:
		return NotRun, nil
	case !result.Struck:
		return Unstruck, nil
	}
	return Held, nil
}

// Came says what came of a fault.
func (r *Report) Came(s Symptom) string { return r.outcome(Finding{Symptom: s}) }

// resultsOf are those of plans that are yet to be run.
func resultsOf(plans []Plan) []Result {
	results := make([]Result, len(plans))
	for i, plan := range plans {
		results[i].Plan = plan
	}
	return results
}

// note keeps what a run of the plan has come to. If the plan is tried again, the later run counts.
func (r *Report) note(ref *Reference, plan Plan, got *outcome, s *Symptom) {
	i := slices.IndexFunc(r.Results, func(result Result) bool { return result.Plan == plan })
	if i < 0 {
		return
	}
	r.Results[i] = Result{Plan: plan, Ran: true, Struck: got.struck, Symptom: s, Took: got.elapsed}
	if s != nil {
		r.Results[i].Writes, r.Results[i].Timeline = story(ref, got), aroundFault(moments(ref, got))
	}
}

// How many moments of a timeline are kept before and behind the fault, or at the end if there was none.
const (
	momentsBefore = 10
	momentsBehind = 30
)

// aroundFault bounds a timeline.
func aroundFault(all []Moment) []Moment {
	at := slices.IndexFunc(all, func(m Moment) bool { return m.Fault })
	if at < 0 {
		at = len(all) - momentsBehind
	}
	from, to := max(0, at-momentsBefore), min(len(all), max(0, at)+momentsBehind)
	kept := slices.Clone(all[from:to])
	for i := range kept {
		kept[i].Text = oneLine(kept[i].Text)
	}
	return kept
}

// results are those of all plans for programs.
func (r *Report) results() []jsonResult {
	all := make([]jsonResult, 0, len(r.Results))
	for _, result := range r.Results {
		verdict, f := r.Verdict(result)
		j := jsonResult{ID: result.Plan.ID(), Kind: result.Plan.Kind, Step: result.Plan.Point.Step + 1, Outcome: verdict}
		if result.Plan.Point.Verb != "" {
			j.Request = result.Plan.Point.String()
		}
		if f != nil {
			j.Finding = f.ID
		}
		all = append(all, j)
	}
	return all
}

// A jsonResult is what came of a plan.
type jsonResult struct {
	ID      string  `json:"id"`
	Kind    Kind    `json:"kind"`
	Step    int     `json:"step"` // counts from 1
	Request string  `json:"request,omitempty"`
	Outcome Verdict `json:"outcome"`
	Finding string  `json:"finding,omitempty"`
}
