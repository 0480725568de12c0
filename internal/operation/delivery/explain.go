package delivery

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// An Explanation is a question about an object of a cluster.
type Explanation struct {
	In Target
	explain.Question
	Tree   bool // show all of what the object owns
	Follow bool // go on with the changes to come, until the context ends
}

// Explain answers a question, and writes nothing to the cluster. That an object is not ready is an answer, not a
// failure.
func Explain(ctx context.Context, s *operation.Session, e Explanation) error {
	cluster, err := reach(s, e.In)
	if err != nil {
		return err
	}
	s.Handler.Handle(report.Step{Name: "looking at " + strings.ToLower(e.Kind) + " " + e.Name})
	record := historyOf(ctx, s, cluster)
	if e.Follow && record == nil {
		return noRecord(cluster)
	}
	var past explain.History
	if record != nil {
		past = record
	}
	answer, err := explain.Explain(ctx, cluster, past, e.Question)
	if err != nil {
		return err
	}
	s.Handler.Handle(report.Result{Text: explanationText(answer, e.Tree), Value: answer})
	if !e.Follow {
		return nil
	}
	return explain.Follow(ctx, record, answer, func(c explain.Change) {
		s.Handler.Handle(report.Result{Text: strings.Join(changeCells(c), "  "), Value: c})
	})
}

const (
	// mostCauses and mostBelow bound what is shown, so that it fits on a screen.
	mostCauses = 4
	mostBelow  = 12
)

// explanationText is an answer for people. All texts come from the cluster, so it is made safe for terminals.
func explanationText(a explain.Answer, all bool) string {
	var b strings.Builder
	fmt.Fprintln(&b, plain(firstLine(a)))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(w, "  %s\t%s\n", name, plain(text)) }
	causes := a.Causes
	if a.Field != nil {
		causes = nil
	}
	if len(causes) > 0 {
		if causes[0].Object != a.Object {
			row("in", ship.RefText(causes[0].Object))
		}
		if causes[0].Next != "" {
			row("try", causes[0].Next)
		}
		for _, line := range causes[0].Log {
			row("log", line)
		}
		for _, c := range causes[1:min(len(causes), mostCauses)] {
			row("also", ship.RefText(c.Object)+": "+c.Reason+": "+c.Message)
		}
		if more := len(causes) - mostCauses; more > 0 {
			row("", fmt.Sprintf("and %d more, which --output json lists", more))
		}
	}
	for _, r := range a.References {
		if r.Missing {
			row("missing", ship.RefText(r.Object)+", "+r.Field+" of "+ship.RefText(r.By))
		}
	}
	_ = w.Flush()
	if a.Field == nil {
		treeText(&b, a, all)
	}
	changesText(&b, a)
	for _, text := range a.Unknown {
		fmt.Fprintf(&b, "unknown: %s\n", plain(text))
	}
	return strings.TrimRight(b.String(), "\n")
}

// plain is a text of one line, without what makes a terminal do something.
func plain(text string) string { return strings.Join(strings.Fields(ansi.Plain(text)), " ") }

// firstLine is the state and its cause.
func firstLine(a explain.Answer) string {
	cause := ""
	if len(a.Causes) > 0 {
		cause = a.Causes[0].Reason + ": " + a.Causes[0].Message
	}
	name := ship.RefText(a.Object)
	if f := a.Field; f != nil {
		switch {
		case a.Unrecorded != "":
			return "who has set " + f.Path + " of " + name + " is not known: " + a.Unrecorded
		case f.By == "":
			return f.Path + " of " + name + " has not changed since the record begins"
		case len(f.Value) == 0:
			return f.Path + " of " + name + " is not set: " + f.By + " has removed it " + ago(f.At)
		}
		return f.Path + " of " + name + " is " + string(f.Value) + ": " + f.By + " has set it " + ago(f.At)
	}
	switch a.State {
	case explain.Ready:
		if cause != "" {
			return name + " is ready, but: " + cause
		}
		return name + " is ready"
	case explain.InProgress:
		text := name + " is in progress: " + cmp.Or(a.Waiting, "its controller is at work on it")
		if cause != "" && !strings.Contains(text, a.Causes[0].Message) {
			text += "; " + cause
		}
		return text
	case explain.Deleting:
		return name + " is being deleted"
	case explain.Stuck:
		return name + " is stuck in its deletion: " + cause
	case explain.Missing:
		if cause != "" {
			return name + " does not exist: " + cause
		}
		return name + " does not exist"
	}
	return name + " is not ready: " + cause
}

// changesText shows the newest changes.
func changesText(b *strings.Builder, a explain.Answer) {
	if len(a.Changes) == 0 {
		return
	}
	fmt.Fprintln(b)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, c := range a.Changes {
		fmt.Fprintln(w, strings.Join(changeCells(c), "\t"))
	}
	_ = w.Flush()
}

// changeCells are the parts of a change's line.
func changeCells(c explain.Change) []string {
	what := c.Verb
	if c.Status != 0 {
		what = fmt.Sprintf("%s → %d", c.Verb, c.Status)
	}
	fields := c.Fields[:min(len(c.Fields), 2)]
	more := ""
	if len(c.Fields) > len(fields) {
		more = fmt.Sprintf(" and %d more", len(c.Fields)-len(fields))
	}
	by := c.By
	if c.Reconcile != "" {
		in := " in reconcile "
		if c.Inferred {
			in = " probably in reconcile "
		}
		by += in + c.Reconcile[:min(len(c.Reconcile), shortID)]
	}
	return []string{c.At.Local().Format(time.TimeOnly), plain(ship.RefText(c.Object)), plain(by), plain(what), cut(plain(cmp.Or(c.Why, strings.Join(fields, ", ")))) + more}
}

// shortID is how much of the ID of a reconcile distinguishes it from others.
const shortID = 8

// cut is a text of one line's length.
func cut(text string) string {
	const longest = 120
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// treeText shows the object and what it owns, each with its state.
func treeText(b *strings.Builder, a explain.Answer, all bool) {
	if len(a.Tree) < 2 {
		return
	}
	fmt.Fprintln(b)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	shown := len(a.Tree)
	if !all {
		shown = min(shown, mostBelow)
	}
	for _, m := range a.Tree[:shown] {
		fmt.Fprintf(w, "%s%s\t%s\t%s\n", strings.Repeat("  ", m.Depth), plain(strings.ToLower(m.Object.Kind)+"/"+m.Object.Name), m.State, plain(m.Text))
	}
	_ = w.Flush()
	if more := len(a.Tree) - shown; more > 0 {
		fmt.Fprintf(b, "and %d more, which --tree lists\n", more)
	}
	if a.More > 0 {
		fmt.Fprintf(b, "and %d more, at which explain does not look\n", a.More)
	}
}
