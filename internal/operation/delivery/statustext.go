package delivery

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// mostShown bounds how many reasons of a sort the text has, so that it fits on a screen.
const mostShown = 8

// text is the state for people. Names and messages come from the cluster, so it is made safe for terminals.
func (o OperatorState) text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(cells ...string) {
		for i, cell := range cells {
			cells[i] = strings.Join(strings.Fields(ansi.Plain(cell)), " ")
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	row("operator", o.Project, cmp.Or(inNamespace(o.Namespace), "without an inventory of slipway's"))
	for _, m := range o.Workloads {
		row("workload", ship.RefText(m.Object), fmt.Sprintf("%d of %d ready, %s%s", m.Ready, m.Replicas, strings.Join(m.Images, ", "), onSimulated(m)))
	}
	for _, l := range o.Leaders {
		row("leader", l.Holder, ship.RefText(l.Lease)+", renewed "+ago(l.Renewed)+expired(l.Expired))
	}
	for _, h := range o.Webhooks {
		row("webhooks", ship.RefText(h.Object), answerText(h))
	}
	for _, c := range o.Certificates {
		row("certificate", ship.RefText(c.Secret), certificateText(c))
	}
	for _, d := range o.Definitions {
		row("crd", d.Name, definitionText(d))
	}
	o.troubles(row)
	_ = w.Flush()
	return strings.TrimRight(b.String(), "\n")
}

// troubles adds what is not ready, what is stuck and what is not known.
func (o OperatorState) troubles(row func(...string)) {
	for _, u := range o.NotReady[:min(len(o.NotReady), mostShown)] {
		row("not ready", ship.RefText(u.Object), unreadyText(u))
	}
	for _, u := range o.Stuck[:min(len(o.Stuck), mostShown)] {
		row("stuck", ship.RefText(u.Object), "deleted "+ago(u.Since)+", waits for the finalizers "+strings.Join(u.Finalizers, ", "))
	}
	if more := max(0, len(o.NotReady)-mostShown) + max(0, len(o.Stuck)-mostShown); more > 0 {
		row("", fmt.Sprintf("and %d more, which --output json lists", more))
	}
	for _, text := range o.Unknown {
		row("unknown", text)
	}
}

func onSimulated(w ship.WorkloadState) string {
	if w.Simulated {
		return ", on simulated pods"
	}
	return ""
}

func expired(is bool) string {
	if is {
		return ", expired"
	}
	return ""
}

// ago is how long ago a time was, to a second.
func ago(t time.Time) string { return time.Since(t).Round(time.Second).String() + " ago" }

func answerText(h ship.WebhookState) string {
	switch {
	case h.URL != "":
		return "the manager at " + h.URL
	case h.Answers:
		return "service " + h.Service + " answers, " + operation.Count(len(h.Pods), "pod")
	}
	return "service " + h.Service + ": " + h.Problem
}

func certificateText(c ship.CertificateState) string {
	if c.NotAfter == nil {
		return c.Problem
	}
	text := "until " + c.NotAfter.UTC().Format(time.DateOnly)
	if c.Problem != "" {
		return text + ", " + c.Problem
	}
	return fmt.Sprintf("%s, %d days", text, int(time.Until(*c.NotAfter).Hours()/24))
}

func definitionText(d ship.DefinitionState) string {
	text := "stored as " + strings.Join(d.Stored, ", ") + ", " + operation.Count(d.Objects, "object")
	if d.NotReady > 0 {
		text += fmt.Sprintf(", %d not ready", d.NotReady)
	}
	if d.Stuck > 0 {
		text += fmt.Sprintf(", %d stuck in deletion", d.Stuck)
	}
	return text
}

func unreadyText(u report.Unready) string {
	text := u.Reason
	if u.Pod != "" {
		text += " of pod " + strings.TrimSuffix(u.Pod+"/"+u.Container, "/")
	}
	if u.Message != "" {
		text += ": " + u.Message
	}
	return text
}
