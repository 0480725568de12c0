package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/report"
)

// text shows events to people.
type text struct {
	mu      sync.Mutex
	stdout  io.Writer
	stderr  io.Writer
	verbose bool
	screen  screen
	pace    pace
	live    bool // the last line on the terminal is to be rewritten
}

// newText shows events for people: results on stdout, the rest on stderr, with what a screen can do. The zero screen is
// plain and rewrites nothing.
func newText(stdout, stderr io.Writer, verbose bool, s screen) *text {
	return &text{stdout: stdout, stderr: stderr, verbose: verbose, screen: s, pace: pace{}}
}

// Handle shows one event.
func (t *text) Handle(e report.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case report.Step:
		t.step(e)
	case report.Progress:
		t.progress(e)
	case report.File:
		t.change(plain(e.Name()), e.Action, plain(e.Why), t.verbose || e.Action != report.Unchanged)
	case report.Object:
		t.change(plain(e.Name), e.Action, plain(e.Why), true)
	case report.Part:
		t.part(e)
	case report.Output:
		t.output(plain(e.Text))
	case report.Note:
		t.line(plain(e.Text))
	case report.Warning:
		t.line(t.screen.paint(yellow, "warning:") + " " + plain(e.Text))
	case report.Finding:
		t.finding(e)
	case report.Result:
		t.result(e)
	}
}

// step tells the time of work that ended. That it begins is told on a terminal,
// where the end takes its place; in a log it would only be noise.
func (t *text) step(s report.Step) {
	s.Name = plain(s.Name)
	switch {
	case s.Elapsed > 0:
		t.line(s.Name + " " + t.screen.paint(faint, "("+duration(s.Elapsed)+")"))
	case t.screen.terminal:
		t.rewrite(s.Name + "…")
	case t.verbose:
		t.line(s.Name + "…")
	}
}

// part shows what a part of the dev loop has come to. That it works is shown on a terminal only.
func (t *text) part(p report.Part) {
	text := fmt.Sprintf("%-9s %s", p.Name, p.State)
	if p.Text != "" {
		text += ": " + plain(p.Text)
	}
	switch {
	case p.State != report.Working:
		if p.Elapsed > 0 {
			text += " " + t.screen.paint(faint, "("+duration(p.Elapsed)+")")
		}
		t.line(t.screen.paint(partColor(p.State), "●") + " " + text)
	case t.screen.terminal:
		t.rewrite(text + "…")
	case t.verbose:
		t.line(text + "…")
	}
}

// partColor is green for what is well and red for what is not.
func partColor(s report.PartState) color {
	switch s {
	case report.Ready:
		return green
	case report.Failed:
		return red
	default:
		return faint
	}
}

// output passes on a line of a program.
func (t *text) output(line string) {
	t.erase()
	_, _ = io.WriteString(t.stdout, line+"\n")
}

// progress rewrites one line on a terminal and is told now and then elsewhere.
func (t *text) progress(p report.Progress) {
	p.Name = plain(p.Name)
	switch {
	case t.screen.terminal:
		t.rewrite(t.screen.roomy(decoratedBar(p), progressLine(p)))
	case t.pace.due(p):
		t.line(progressLine(p))
	}
}

// change tells what happened to a file or an object, in aligned columns.
func (t *text) change(name string, action report.Action, why string, shown bool) {
	if !shown {
		return
	}
	if why != "" {
		why = " " + t.screen.paint(faint, "("+why+")")
	}
	column := fmt.Sprintf("%-9s", action)
	t.line("  " + t.screen.paint(actionColor(action), column) + "  " + name + why)
}

// actionColor says how much an action changes.
func actionColor(a report.Action) color {
	switch a {
	case report.Created, report.Updated, report.Moved:
		return green
	case report.Deleted, report.Kept:
		return yellow
	default:
		return faint
	}
}

// finding has the form of a compiler's message, which editors can follow.
func (t *text) finding(f report.Finding) {
	severity := t.screen.paint(yellow, "warning:")
	if f.Fatal {
		severity = t.screen.paint(red, "error:")
	}
	place := plain(f.Position.String()) //nolint:staticcheck // f.String would read as all of the finding
	if place != "" {
		place = t.screen.paint(bold, place+":") + " "
	}
	t.line(place + severity + " " + plain(f.Message))
	if f.Suggestion != "" {
		t.line(indent(plain(f.Suggestion), "    "))
	}
}

// result is the only event that goes to stdout.
func (t *text) result(r report.Result) {
	t.erase()
	if r.Text == "" {
		return
	}
	end := "\n"
	if r.Bare {
		end = ""
	}
	_, _ = io.WriteString(t.stdout, strings.TrimSuffix(r.Text, "\n")+end)
}

// fail shows why the invocation ended.
func (t *text) fail(f failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.interrupted {
		t.line("interrupted")
		return
	}
	t.line(t.screen.paint(red, "error:") + " " + plain(f.What))
	for _, part := range f.parts() {
		label := t.screen.paint(faint, fmt.Sprintf("  %-6s ", part.label+":"))
		t.line(label + strings.TrimPrefix(indent(plain(part.text), strings.Repeat(" ", 9)), strings.Repeat(" ", 9)))
	}
}

// line writes a line that stays.
func (t *text) line(s string) {
	t.erase()
	_, _ = io.WriteString(t.stderr, s+"\n")
}

// rewrite writes a line that the next one replaces.
func (t *text) rewrite(s string) {
	t.erase()
	_, _ = io.WriteString(t.stderr, t.screen.clip(s))
	t.live = true
}

// erase removes a line that was not to stay: back to the first column, then
// clear to the end.
func (t *text) erase() {
	if !t.live {
		return
	}
	_, _ = io.WriteString(t.stderr, "\r\x1b[K")
	t.live = false
}

// indent puts prefix before every line of s.
func indent(s, prefix string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+prefix)
}
