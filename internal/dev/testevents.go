package dev

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
)

// mostTestOutput bounds what is kept of the output of a test, in bytes: its end says why it failed.
const mostTestOutput = 64 << 10

// testEvents makes events of the lines that go test -json prints. One goroutine may write to it.
type testEvents struct {
	handler report.Handler
	line    []byte              // not yet ended
	output  map[testName][]byte // of tests that run, and of packages
	builds  map[string][]byte   // output of compilations, by import path
}

type testName struct{ pkg, test string }

// goTestEvent is a line of go test -json: see go doc test2json.
type goTestEvent struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string
}

func newTestEvents(h report.Handler) *testEvents {
	return &testEvents{handler: h, output: map[testName][]byte{}, builds: map[string][]byte{}}
}

// Write takes what go test prints, in pieces of any size.
func (t *testEvents) Write(data []byte) (int, error) {
	t.line = append(t.line, data...)
	for {
		line, rest, ended := bytes.Cut(t.line, []byte("\n"))
		if !ended {
			return len(data), nil
		}
		t.handle(line)
		t.line = slices.Clone(rest)
	}
}

// end takes what stands behind the last end of a line.
func (t *testEvents) end() {
	if len(t.line) > 0 {
		t.handle(t.line)
		t.line = nil
	}
}

func (t *testEvents) handle(line []byte) {
	var e goTestEvent
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		t.handler.Handle(report.Output{Part: report.TestsPart, Text: string(line)})
		return
	}
	name := testName{e.Package, e.Test}
	switch e.Action {
	case "output":
		t.output[name] = lastOf(t.output[name], e.Output)
	case "build-output":
		t.builds[e.ImportPath] = lastOf(t.builds[e.ImportPath], e.Output)
	case "pass":
		t.ended(name, report.Passed, e)
	case "fail":
		t.ended(name, report.TestFailed, e)
	case "skip":
		t.ended(name, report.Skipped, e)
	}
}

// ended reports the end of a test or of a package.
func (t *testEvents) ended(name testName, outcome report.Outcome, e goTestEvent) {
	done := report.Test{Package: name.pkg, Test: name.test, Outcome: outcome, Elapsed: time.Duration(e.Elapsed * float64(time.Second))}
	if outcome == report.TestFailed {
		done.Output = strings.TrimSuffix(string(slices.Concat(t.builds[e.FailedBuild], t.output[name])), "\n")
	}
	delete(t.output, name)
	t.handler.Handle(done)
}

// lastOf is the end of a text and of what follows it.
func lastOf(text []byte, more string) []byte {
	text = append(text, more...)
	if len(text) > 2*mostTestOutput {
		text = slices.Clone(text[len(text)-mostTestOutput:])
	}
	return text
}
