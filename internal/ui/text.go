package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
	"github.com/slipway-dev/slipway/internal/ui/devlog"
)

// text shows events to people.
type text struct {
	mu      sync.Mutex
	stdout  io.Writer
	stderr  io.Writer
	verbose bool
	screen  screen
	log     devlog.Printer
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
	case report.Step, report.Progress, report.Part:
		t.goesOn(e)
	case report.File:
		if t.verbose || e.Action != report.Unchanged {
			t.line(t.screen.shown(e))
		}
	case report.Output:
		t.output(e)
	case report.Result:
		t.result(e)
	default:
		if shown := t.screen.shown(e); shown != "" {
			t.line(shown)
		}
	}
}

// goesOn shows work that may go on: on a terminal in a line that its end replaces. In a log its beginning would only be
// noise, and progress is shown now and then.
func (t *text) goesOn(e report.Event) {
	p, progress := e.(report.Progress)
	switch passing := Passing(e); {
	case passing == "":
		t.line(t.screen.shown(e))
	case progress && t.screen.terminal:
		t.rewrite(t.screen.roomy(decoratedBar(p), passing))
	case progress:
		if t.pace.due(p) {
			t.line(passing)
		}
	case t.screen.terminal:
		t.rewrite(passing)
	case t.verbose:
		t.line(passing)
	}
}

// output passes on a line of a program: as it is if more is to be reported, else in a form for people.
func (t *text) output(o report.Output) {
	t.erase()
	line := ansi.Plain(o.Text)
	if !t.verbose {
		line = t.log.Format(devlog.Parse(o.Text))
	}
	if line != "" || o.Text == "" {
		_, _ = io.WriteString(t.stdout, line+"\n")
	}
}

// result is the only event that goes to stdout, apart from what programs print.
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
	t.line(t.screen.paint(ansi.Red, "error:") + " " + ansi.Plain(f.What))
	for _, part := range f.parts() {
		label := t.screen.paint(ansi.Faint, fmt.Sprintf("  %-6s ", part.label+":"))
		t.line(label + strings.TrimPrefix(indent(ansi.Plain(part.text), strings.Repeat(" ", 9)), strings.Repeat(" ", 9)))
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
