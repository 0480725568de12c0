package ui

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"github.com/slipway-dev/slipway/internal/report"
)

// lines writes JSON lines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

// newJSON writes one JSON object per line and event: the event's own keys after
// "event", its kind.
func newJSON(w io.Writer) report.Handler { return &lines{w: w} }

// Handle writes one event.
func (l *lines) Handle(e report.Event) {
	if kind := kindOf(e); kind != "" {
		l.write(kind, e)
	}
}

// fail writes the error that ended the invocation.
func (l *lines) fail(f failure) { l.write("error", f) }

// kindOf names an event; a nil event has no kind.
func kindOf(e report.Event) string {
	switch e.(type) {
	case report.Step:
		return "step"
	case report.Progress:
		return "progress"
	case report.File:
		return "file"
	case report.Object:
		return "object"
	case report.Part:
		return "part"
	case report.Output:
		return "output"
	case report.Note:
		return "note"
	case report.Warning:
		return "warning"
	case report.Finding:
		return "finding"
	case report.Test:
		return "test"
	case report.Result:
		return "result"
	}
	return ""
}

// write puts kind before the keys of value, which must be a struct, and writes
// the line at once so that lines of several goroutines do not mix.
func (l *lines) write(kind string, value any) {
	var line bytes.Buffer
	line.WriteString(`{"event":"` + kind + `"`)
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // < and > are common in messages and harmless here
	if err := enc.Encode(value); err != nil {
		body.Reset()
		_ = enc.Encode(map[string]string{"unrepresentable": err.Error()})
	}
	if rest := body.Bytes()[1:]; rest[0] != '}' {
		line.WriteByte(',')
		line.Write(rest)
	} else {
		line.Write(rest)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(line.Bytes())
}
