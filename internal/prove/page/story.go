package page

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/prove"
)

// Bounds of what a story shows, so that a page with a thousand findings opens at once.
const (
	mostDifferences = 8
	mostDetails     = 8
	mostPlans       = 100
	mostText        = 400 // bytes of a value
)

// A story is a plan and what came of it.
type story struct {
	Plan        prove.Plan
	ID          string // of the plan
	Sentence    string
	Verdict     prove.Verdict
	Glyph       string
	Said        string // what came of it
	First       string // the first difference or detail
	Finding     string // its ID
	Accepted    string
	Differences []prove.Difference
	Details     []string
	More        int // differences and details that are not shown
	Diagnosis   string
	Writes      []prove.Write
	Timeline    []stage
	Took        string
	Replay      string  // the command
	Others      []story // of a finding: other plans with the symptom
	Same        string  // how many those are
}

// A stage is the part of a timeline in a step.
type stage struct {
	Title   string
	Moments []prove.Moment
}

// stories are those of a report.
type stories struct {
	report  *prove.Report
	command string
	all     []story // in the order of the results
	numbers map[string]int
}

func newStories(r *prove.Report, command string) *stories {
	s := &stories{report: r, command: command, numbers: map[string]int{}}
	for i, f := range r.New() {
		s.numbers[f.ID] = i + 1
	}
	for _, result := range r.Results {
		s.all = append(s.all, s.of(result))
	}
	return s
}

// of is the story of a result.
func (s *stories) of(result prove.Result) story {
	verdict, f := s.report.Verdict(result)
	one := story{
		Plan: result.Plan, ID: result.Plan.ID(), Sentence: result.Plan.Sentence(s.report.Scenario.Steps), Verdict: verdict,
		Timeline: s.stages(result.Timeline), Writes: result.Writes, Replay: s.command + " --replay " + result.Plan.ID(),
	}
	if result.Ran {
		one.Took = round(result.Took).String()
	}
	number := 0
	if f != nil {
		one.Finding, one.Accepted, number = f.ID, f.Accepted, s.numbers[f.ID]
	}
	one.Glyph = glyph(verdict, number)
	one.Said = verdictText[verdict]
	if result.Symptom != nil {
		one.show(s.report, *result.Symptom)
		if !result.Struck {
			one.Said = verdictText[prove.Unstruck] + " " + one.Said
		}
	}
	return one
}

// stages divide a timeline by steps.
func (s *stories) stages(all []prove.Moment) (stages []stage) {
	for i, m := range all {
		if i == 0 || all[i-1].Step != m.Step {
			stages = append(stages, stage{Title: s.title(m.Step)})
		}
		last := &stages[len(stages)-1]
		last.Moments = append(last.Moments, m)
	}
	return stages
}

// verdictText says what came of a plan without a symptom.
var verdictText = map[prove.Verdict]string{
	prove.Held:     "The operator held: each step came to the same state as without the failure.",
	prove.Unstruck: "The request that was to fail did not come.",
	prove.NotRun:   "This plan was not run.",
}

// show adds what a symptom says.
func (one *story) show(r *prove.Report, symptom prove.Symptom) {
	one.Said = capital(r.Came(symptom)) + "."
	one.Diagnosis = prove.Finding{Plans: []prove.Plan{one.Plan}, Symptom: symptom}.Diagnosis()
	one.Differences, one.Details = nil, nil
	for _, d := range symptom.Differences[:min(len(symptom.Differences), mostDifferences)] {
		d.Want, d.Got = cut(d.Want), cut(d.Got)
		one.Differences = append(one.Differences, d)
	}
	for _, d := range symptom.Details[:min(len(symptom.Details), mostDetails)] {
		one.Details = append(one.Details, cut(d))
	}
	switch {
	case len(one.Differences) > 0:
		one.First = one.Differences[0].String()
	case len(one.Details) > 0:
		one.First = one.Details[0]
	}
	one.More = len(symptom.Differences) - len(one.Differences) + len(symptom.Details) - len(one.Details)
}

// findings are the stories of the first plan of each finding: those that count, the accepted ones, and those that were
// seen once.
func (s *stories) findings() (all []story) {
	byVerdict := map[prove.Verdict][]story{}
	for _, f := range s.report.Findings {
		var one story
		for _, other := range s.all {
			if other.Plan == f.Plans[0] {
				one = other
			}
		}
		if one.ID == "" { // the report has no results
			one = s.of(prove.Result{Plan: f.Plans[0], Ran: true, Struck: true})
		}
		one.show(s.report, f.Symptom)
		one.Writes = f.Writes
		for _, plan := range f.Plans[1:min(len(f.Plans), mostPlans)] {
			one.Others = append(one.Others, story{ID: plan.ID(), Sentence: plan.Sentence(s.report.Scenario.Steps)})
		}
		one.Same = count(len(f.Plans)-1, "other plan")
		byVerdict[one.Verdict] = append(byVerdict[one.Verdict], one)
	}
	for _, v := range []prove.Verdict{prove.Found, prove.Accepted, prove.SeenOnce} {
		all = append(all, byVerdict[v]...)
	}
	return all
}

// cut bounds a value.
func cut(value string) string {
	if len(value) > mostText {
		return strings.ToValidUTF8(value[:mostText], "") + "…"
	}
	return value
}

// capital begins a sentence.
func capital(text string) string {
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}
