// Package ui shows events (package report): as text for people, as JSON lines
// for programs.
package ui

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/slipway-dev/slipway/internal/report"
)

// NewText shows events for people: results on stdout, the rest on stderr.
func NewText(stdout, stderr io.Writer, verbose bool) report.Handler {
	return report.HandlerFunc(func(e report.Event) { fmt.Fprintf(stderr, "%+v\n", e) })
}

// NewJSON writes one JSON object per event.
func NewJSON(w io.Writer) report.Handler {
	enc := json.NewEncoder(w)
	return report.HandlerFunc(func(e report.Event) { _ = enc.Encode(e) })
}

// Fail shows err and returns the exit code that belongs to it.
func Fail(h report.Handler, err error) int {
	h.Handle(report.Note{Text: err.Error()})
	return 1
}
