// Package ui shows what happens (package report) to people at
// a terminal, people reading a log, programs, and CI.
//
// [New] chooses by the [Options] of an invocation:
//
//   - text for people: results go to stdout and everything else to
//     stderr, so that a pipe gets the answer and nothing but the answer. On a
//     terminal, progress is rewritten in place; elsewhere it is reported sparsely, so
//     that a log stays readable. Colour needs a terminal and gives way to NO_COLOR.
//   - JSON lines for programs: one object per line on stdout, whose
//     key "event" names its kind: step, progress, file, object, note, warning,
//     finding, result, error.
//   - annotations for CI: under GitHub Actions, findings and
//     errors are reported a second time as workflow commands, which show them beside
//     the lines they are about.
//
// [Fail] shows the error that ended an invocation and returns the exit code:
// that of the [report.Error], 130 after an interrupt, 1 for anything else.
//
// No work is silent for more than three seconds: [New]'s handlers show that a step which began goes on.
//
// Handlers are safe for use by several goroutines. A handler that cannot write
// stays silent: no reader is left.
package ui

import (
	"io"

	"github.com/slipway-dev/slipway/internal/report"
)

// The formats that [Options.Format] knows.
const (
	Text = "text"
	JSON = "json"
)

// Options say how an invocation wants to be reported.
type Options struct {
	Format  string              // Text or JSON; empty means Text
	Verbose bool                // report more of what is done and why
	Getenv  func(string) string // NO_COLOR, TERM, GITHUB_ACTIONS; nil means an empty environment
	Dir     string              // the folder that relative paths in events start from; for CI, which needs its own
}

// getenv reads one variable.
func (o Options) getenv(name string) string {
	if o.Getenv == nil {
		return ""
	}
	return o.Getenv(name)
}

// New returns the handler that o asks for. An unknown format is a [report.Error]
// with exit code 2.
func New(stdout, stderr io.Writer, o Options) (report.Handler, error) {
	switch o.Format {
	case JSON:
		return &pulse{next: newJSON(stdout)}, nil
	case Text, "":
	default:
		return nil, &report.Error{
			What:  "unknown output format " + o.Format,
			Where: "--output",
			Hint:  "expected " + Text + " or " + JSON,
			Code:  report.UsageCode,
		}
	}
	text := newText(stdout, stderr, o.Verbose, detect(stderr, o.getenv))
	if o.getenv("GITHUB_ACTIONS") == "true" {
		return &pulse{next: newAnnotations(stderr, o.Dir, text)}, nil
	}
	return &pulse{next: text}, nil
}
