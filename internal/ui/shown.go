package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// Shown is the text in which people read an event that has happened: one or more lines without a new line at the end.
// It is empty for what only goes on, see [Passing], for output of programs and for results.
func Shown(e report.Event, color bool) string { return screen{color: color}.shown(e) }

// Passing is the text for work that goes on, which is shown until the next event comes. It is empty for other events.
func Passing(e report.Event) string {
	switch e := e.(type) {
	case report.Step:
		if e.Elapsed == 0 {
			return ansi.Plain(e.Name) + "…"
		}
	case report.Progress:
		e.Name, e.Unit = ansi.Plain(e.Name), ansi.Plain(e.Unit)
		return progressLine(e)
	case report.Part:
		if e.State == report.Working {
			return partLine(e) + "…"
		}
	}
	return ""
}

// shown is [Shown] in the colours of s.
func (s screen) shown(e report.Event) string {
	switch e := e.(type) {
	case report.Step:
		if e.Elapsed > 0 {
			return ansi.Plain(e.Name) + " " + s.elapsed(e.Elapsed)
		}
	case report.Part:
		return s.part(e)
	case report.File:
		return s.change(e.Name(), e.Action, e.Why)
	case report.Object:
		return s.change(e.Name, e.Action, e.Why)
	case report.Note:
		return ansi.Plain(e.Text)
	case report.Warning:
		return s.paint(ansi.Yellow, "warning:") + " " + ansi.Plain(e.Text)
	case report.Finding:
		return s.finding(e)
	}
	return ""
}

// partLine is the name of a part of the dev loop, its state and its text.
func partLine(p report.Part) string {
	text := fmt.Sprintf("%-9s %s", ansi.Plain(string(p.Name)), p.State)
	if p.Text != "" {
		text += ": " + ansi.Plain(p.Text)
	}
	return text
}

// part is what a part of the dev loop has come to.
func (s screen) part(p report.Part) string {
	if p.State == report.Working {
		return ""
	}
	text := s.paint(partColor(p.State), "●") + " " + partLine(p)
	if p.Elapsed > 0 {
		text += " " + s.elapsed(p.Elapsed)
	}
	return text
}

// partColor is green for what is well and red for what is not.
func partColor(s report.PartState) ansi.Color {
	switch s {
	case report.Ready:
		return ansi.Green
	case report.Failed:
		return ansi.Red
	default:
		return ansi.Faint
	}
}

// elapsed is a duration beside what took it.
func (s screen) elapsed(d time.Duration) string { return s.paint(ansi.Faint, "("+Duration(d)+")") }

// change is what happened to a file or an object, in aligned columns.
func (s screen) change(name string, action report.Action, why string) string {
	if why != "" {
		why = " " + s.paint(ansi.Faint, "("+ansi.Plain(why)+")")
	}
	column := fmt.Sprintf("%-9s", action)
	return "  " + s.paint(actionColor(action), column) + "  " + ansi.Plain(name) + why
}

// actionColor says how much an action changes.
func actionColor(a report.Action) ansi.Color {
	switch a {
	case report.Created, report.Updated, report.Moved:
		return ansi.Green
	case report.Deleted, report.Kept:
		return ansi.Yellow
	default:
		return ansi.Faint
	}
}

// finding has the form of a compiler's message, which editors can follow.
func (s screen) finding(f report.Finding) string {
	severity := s.paint(ansi.Yellow, "warning:")
	if f.Fatal {
		severity = s.paint(ansi.Red, "error:")
	}
	place := ansi.Plain(f.Position.String()) //nolint:staticcheck // f.String would read as all of the finding
	if place != "" {
		place = s.paint(ansi.Bold, place+":") + " "
	}
	text := place + severity + " " + ansi.Plain(f.Message)
	if f.Suggestion != "" {
		text += "\n" + indent(ansi.Plain(f.Suggestion), "    ")
	}
	return text
}

// indent puts prefix before every line of s.
func indent(s, prefix string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+prefix)
}
