package ui

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestOutput: lines of programs are made readable, and stay as they are where more is to be reported.
func TestOutput(t *testing.T) {
	const line = `{"level":"info","msg":"created job","controller":"cronjob","CronJob":{"name":"a","namespace":"b"},"controllerKind":"CronJob"}`
	for verbose, want := range map[bool]string{false: "INFO  cronjob b/a  created job\n\n\\x1b[2J\n", true: line + "\n\n\\x1b[2J\n"} {
		var stdout bytes.Buffer
		h := newText(&stdout, io.Discard, verbose, screen{})
		for _, text := range []string{line, "", "\x1b[2J"} {
			h.Handle(report.Output{Part: report.ManagerPart, Text: text})
		}
		if diff := cmp.Diff(want, stdout.String()); diff != "" {
			t.Errorf("verbose: %t (-want +got):\n%s", verbose, diff)
		}
	}
}

// TestShownOrPassing: each event is shown when it has happened, or as long as it goes on, and never both.
func TestShownOrPassing(t *testing.T) {
	events := append([]report.Event{report.Part{Name: report.BuildPart, State: report.Working}, report.Part{Name: report.BuildPart, State: report.Failed, Elapsed: time.Second}}, session...)
	for _, e := range events {
		if _, result := e.(report.Result); !result && (Shown(e, true) == "") == (Passing(e) == "") {
			t.Errorf("%#v is shown as %q, and as %q while it goes on", e, Shown(e, true), Passing(e))
		}
	}
}
