package report_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

func TestError(t *testing.T) {
	for _, test := range []struct {
		err  *report.Error
		text string
		code int
	}{
		{&report.Error{What: "no project"}, "no project", 1},
		{&report.Error{What: "no project", Where: "a/PROJECT", Hint: "make one", Err: fs.ErrNotExist}, "a/PROJECT: no project: file does not exist (make one)", 1},
		{&report.Error{What: "unknown", Where: "--kind"}, "--kind: unknown", 2}, // a mistake on the command line
		{&report.Error{What: "unknown", Where: "--kind", Code: 1}, "--kind: unknown", 1},
		{&report.Error{What: "stopped", Code: 130}, "stopped", 130},
		{&report.Error{What: "not ready", Class: report.NotReady}, "not ready", 3},
		{&report.Error{What: "not ready", Class: report.NotReady, Code: 1}, "not ready", 1}, // for another program's caller
		{&report.Error{What: "failed", Err: fmt.Errorf("so: %w", &report.Error{What: "denied", Class: report.Refused})}, "failed: so: denied", 5},
		{&report.Error{What: "failed", Where: "--to", Err: &report.Error{What: "bad", Class: report.BadProject}}, "--to: failed: bad", 2},
	} {
		if got := test.err.Error(); got != test.text {
			t.Errorf("got %q, want %q", got, test.text)
		}
		if got := test.err.ExitCode(); got != test.code {
			t.Errorf("%s: the exit code is %d, want %d", test.text, got, test.code)
		}
		if test.err.Err != nil && !errors.Is(test.err, test.err.Err) {
			t.Errorf("%s: its cause is not known", test.text)
		}
	}
}

// TestClasses: each class has a code of its own, which is none of the others'.
func TestClasses(t *testing.T) {
	seen := map[int]bool{0: true, 1: true, report.UsageCode: true, 130: true}
	for _, c := range report.Classes() {
		if seen[c.Code] || c.Meaning == "" || (&report.Error{Class: c.Class}).ExitCode() != c.Code {
			t.Errorf("class %q has the code %d, which is taken, or another one", c.Class, c.Code)
		}
		seen[c.Code] = true
	}
}

func TestPosition(t *testing.T) {
	for want, position := range map[string]report.Position{
		"": {Line: 1}, "a.go": {File: "a.go"}, "a.go:2": {File: "a.go", Line: 2}, "a.go:2:3": {File: "a.go", Line: 2, Column: 3},
	} {
		if got := position.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestFileName(t *testing.T) {
	for want, file := range map[string]report.File{"a": {Path: "a"}, "b -> a": {Path: "a", From: "b"}} {
		if got := file.Name(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestHandlerFunc: every event reaches a function, and what is discarded reaches nothing.
func TestHandlerFunc(t *testing.T) {
	events := []report.Event{
		report.Step{}, report.Progress{}, report.File{}, report.Object{}, report.Part{}, report.Output{}, report.Note{}, report.Warning{}, report.Finding{}, report.Result{},
	}
	var got []report.Event
	handler := report.HandlerFunc(func(e report.Event) { got = append(got, e) })
	for _, e := range events {
		handler.Handle(e)
		report.Discard.Handle(e)
	}
	if len(got) != len(events) {
		t.Errorf("%d events of %d", len(got), len(events))
	}
}
