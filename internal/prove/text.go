package prove

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/junit"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// shownDifferences is how many differences of a finding are shown.
const shownDifferences = 4

// Text is the report for people. What comes from an operator and its objects is shown without effect on a terminal.
func (r *Report) Text() string { return ansi.Plain(r.text()) }

func (r *Report) text() string {
	var b strings.Builder
	for _, line := range r.Timeline {
		b.WriteString(line + "\n")
	}
	for _, f := range r.New() {
		fmt.Fprintf(&b, "finding %s: %s\n", f.ID, f.Plans[0].Sentence(r.Scenario.Steps))
		r.describe(&b, f)
		b.WriteString("\n")
	}
	for _, f := range r.Findings {
		switch {
		case f.Accepted != "":
			fmt.Fprintf(&b, "accepted %s: %s: %s\n", f.ID, f.Plans[0].Sentence(r.Scenario.Steps), f.Accepted)
		case !f.Confirmed:
			fmt.Fprintf(&b, "seen, and not again in %d tries: %s: %s; %s%s\n", f.Tries, f.Plans[0].ID(), f.Plans[0].Sentence(r.Scenario.Steps), r.outcome(f), f.Symptom.first())
		}
	}
	for _, text := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", text)
	}
	for _, note := range r.Notes() {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	fmt.Fprintf(&b, "%d of %d plans, %d new findings; %d writes without a fault; learned in %s, explored in %s, %s a plan", r.Plans, r.Of, len(r.New()), r.Writes,
		r.Learning.Round(100*time.Millisecond), r.Exploring.Round(100*time.Millisecond), r.Median().Round(time.Millisecond))
	return b.String()
}

// Notes say what of the proof is worth knowing beside the findings.
func (r *Report) Notes() (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if len(r.Leftover) > 0 {
		note("without a fault, these objects are left after the last step: %s", strings.Join(r.Leftover, ", "))
	}
	if len(r.Refused) > 0 {
		note("the API server refuses these requests without a fault, too: %s", strings.Join(r.Refused, ", "))
	}
	if n := len(r.Varying); n > 0 {
		note("%d fields and objects vary without a fault and are not compared: %s", n, strings.Join(r.Varying[:min(n, shownDifferences)], ", "))
	}
	travels := 0
	for _, result := range r.Results {
		if result.Plan.Kind == TimeTravel && result.Ran && !result.Struck {
			travels++
		}
	}
	if travels > 0 {
		note("in %d plans the operator could not be shown the past: its client asks for the newest state", travels)
	}
	if n := r.Unstruck - travels; n > 0 {
		note("in %d plans the request that was to fail did not come", n)
	}
	return notes
}

// describe writes the story of a finding.
func (r *Report) describe(b *strings.Builder, f Finding) {
	fmt.Fprintf(b, "  %s\n", r.outcome(f))
	for i, d := range f.Symptom.Differences {
		if i == shownDifferences {
			fmt.Fprintf(b, "    … and %d more\n", len(f.Symptom.Differences)-i)
			break
		}
		fmt.Fprintf(b, "    %s\n", d)
	}
	for _, d := range f.Symptom.Details {
		fmt.Fprintf(b, "    %s\n", d)
	}
	fmt.Fprintf(b, "  probably: %s\n", f.Diagnosis())
	b.WriteString("  the operator's writes:\n")
	for _, w := range f.Writes {
		mark := " "
		if w.Fault {
			mark = ">"
		}
		fmt.Fprintf(b, "  %s %s\n", mark, w.Text)
	}
	if len(f.Plans) > 1 {
		fmt.Fprintf(b, "  the same with %d other plans\n", len(f.Plans)-1)
	}
	fmt.Fprintf(b, "  replay: %s --replay %s\n", cmp.Or(r.Command, "slipway prove"), f.Plans[0].ID())
}

// first is the first difference or detail of a symptom, behind a colon.
func (s Symptom) first() string {
	switch {
	case len(s.Differences) > 0:
		return ": " + s.Differences[0].String()
	case len(s.Details) > 0:
		return ": " + s.Details[0]
	}
	return ""
}

// outcome says what came of a fault.
func (r *Report) outcome(f Finding) string {
	s := f.Symptom
	in := fmt.Sprintf("after step %d (%s)", s.Step+1, r.Scenario.Steps[s.Step])
	switch s.Oracle {
	case Diverged:
		return in + " the cluster came to rest in another state" + s.healing()
	case Restless:
		return in + " the cluster did not come to rest"
	case Ended:
		return in + " the operator ended by itself"
	case Extra:
		return "objects were created or deleted more often than without the fault"
	case LeftBehind:
		return "when all that users had made was deleted, objects of the operator stayed"
	case WritesAgain:
		return in + " a new process wrote although nothing was to do"
	case Panicked:
		return "the operator panicked and recovered"
	case Mistaken:
		return "an object was deleted that is not the one which the operator had seen"
	case Backwards:
		return "the status said that an older generation was observed than before"
	case Forbidden:
		return "the API server refused the operator a request that it does not refuse without the fault (403)"
	case StepRefused:
		return in + " the cluster refused the step"
	case Broken:
		return fmt.Sprintf("in step %d (%s) an invariant did not hold", s.Step+1, r.Scenario.Steps[s.Step])
	case UntilUnmet:
		return in + " the cluster came to rest, and the step's condition did not hold as it does without the fault" + s.healing()
	}
	return string(s.Oracle)
}

// healing says what a restart does, if one was tried.
func (s Symptom) healing() string {
	switch {
	case s.Healed == nil:
		return ""
	case *s.Healed:
		return "; a restart of the operator heals it"
	}
	return "; a restart of the operator does not heal it"
}

// JSON is the report for programs.
func (r *Report) JSON() any {
	type finding struct {
		ID          string       `json:"id"`
		Replay      string       `json:"replay"` // the ID of the plan
		Plan        string       `json:"plan"`
		Kind        Kind         `json:"kind"`
		Oracle      Oracle       `json:"oracle"`
		Step        int          `json:"step"` // counts from 1
		Differences []Difference `json:"differences,omitempty"`
		Details     []string     `json:"details,omitempty"`
		Healed      *bool        `json:"healedByRestart,omitempty"`
		Diagnosis   string       `json:"diagnosis"`
		Writes      []string     `json:"writes"`
		Plans       []string     `json:"plans"` // the IDs of all with this symptom
		Confirmed   bool         `json:"confirmed"`
		Accepted    string       `json:"accepted,omitempty"` // why the team lives with it
	}
	out := struct {
		Plans     int          `json:"plans"`
		Of        int          `json:"of"`
		Unstruck  int          `json:"unstruck,omitempty"` // in which the request that was to fail did not come
		Writes    int          `json:"writes"`
		Learning  float64      `json:"learningSeconds"`
		Exploring float64      `json:"exploringSeconds"`
		Median    float64      `json:"medianSeconds"`
		Memory    int64        `json:"clusterBytes,omitempty"` // of all clusters
		Leftover  []string     `json:"leftover,omitempty"`
		Warnings  []string     `json:"warnings,omitempty"`
		Refused   []string     `json:"refused,omitempty"` // without a fault, too
		Varying   []string     `json:"varying,omitempty"` // not compared
		Timeline  []string     `json:"timeline,omitempty"`
		Findings  []finding    `json:"findings"`
		Results   []jsonResult `json:"results"` // of all plans
	}{r.Plans, r.Of, r.Unstruck, r.Writes, r.Learning.Seconds(), r.Exploring.Seconds(), r.Median().Seconds(), r.Memory, r.Leftover, r.Warnings, r.Refused, r.Varying, r.Timeline, []finding{}, r.results()}
	for _, f := range r.Findings {
		j := finding{ID: f.ID, Replay: f.Plans[0].ID(), Plan: f.Plans[0].Sentence(r.Scenario.Steps), Kind: f.Plans[0].Kind, Oracle: f.Symptom.Oracle, Step: f.Symptom.Step + 1,
			Differences: f.Symptom.Differences, Details: f.Symptom.Details, Healed: f.Symptom.Healed, Diagnosis: f.Diagnosis(), Confirmed: f.Confirmed, Accepted: f.Accepted}
		for _, w := range f.Writes {
			j.Writes = append(j.Writes, w.Text)
		}
		for _, p := range f.Plans {
			j.Plans = append(j.Plans, p.ID())
		}
		out.Findings = append(out.Findings, j)
	}
	return out
}

// JUnit is the report with a case for each finding, and one for all plans without.
func (r *Report) JUnit() junit.Suite {
	suite := junit.Suite{Name: "prove", Time: (r.Learning + r.Exploring).Seconds()}
	for _, f := range r.Findings {
		if !f.Confirmed {
			continue
		}
		var failures []junit.Failure
		if f.Accepted == "" {
			var b strings.Builder
			r.describe(&b, f)
			failures = []junit.Failure{{Message: f.Plans[0].Sentence(r.Scenario.Steps), Text: b.String()}}
		}
		suite.Add("finding "+f.ID, failures...)
	}
	suite.Add(fmt.Sprintf("%d plans", r.Plans))
	return suite
}
