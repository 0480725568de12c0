package ui

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// annotations tells findings and errors a second time, as workflow commands of
// GitHub Actions.
type annotations struct {
	mu   sync.Mutex
	w    io.Writer
	dir  string
	next report.Handler
}

// newAnnotations passes every event on to next and writes findings, warnings and
// the final error to w as workflow commands. Relative paths are reported from dir
// where it is not empty: the runner makes absolute paths relative to the
// checkout, which need not be the project's folder.
//
// Format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
func newAnnotations(w io.Writer, dir string, next report.Handler) report.Handler {
	return &annotations{w: w, dir: dir, next: next}
}

// Handle passes e on and annotates it.
func (a *annotations) Handle(e report.Event) {
	a.next.Handle(e)
	switch e := e.(type) {
	case report.Finding:
		level := "warning"
		if e.Fatal {
			level = "error"
		}
		a.write(level, e.Position, "", joinLines(e.Message, e.Suggestion))
	case report.Warning:
		a.write("warning", report.Position{}, "", e.Text)
	}
}

// fail passes f on and annotates it, at its place where it names one in a file.
func (a *annotations) fail(f failure) {
	show(a.next, f)
	if f.interrupted {
		return
	}
	message := f.What
	position, inFile := parsePosition(f.Where)
	for _, part := range f.parts() {
		if part.label != partWhere || !inFile {
			message = joinLines(message, part.label+": "+part.text)
		}
	}
	a.write("error", position, "slipway", message)
}

// write writes one command. Properties without a value are left out.
func (a *annotations) write(level string, p report.Position, title, message string) {
	var properties []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			properties = append(properties, name+"="+escapeProperty(value))
		}
	}
	add("file", a.path(p.File))
	add("line", strconv.Itoa(p.Line))
	add("col", strconv.Itoa(p.Column))
	add("title", title)
	command := "::" + level
	if len(properties) > 0 {
		command += " " + strings.Join(properties, ",")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = fmt.Fprintf(a.w, "%s::%s\n", command, escapeData(message))
}

// path makes file absolute where it can.
func (a *annotations) path(file string) string {
	if file == "" || a.dir == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(a.dir, file)
}

// positioned matches file:line or file:line:column.
var positioned = lazy.Regexp(`^(.+?):(\d+)(?::(\d+))?$`)

// parsePosition reads the place of an error; a flag, an object or a folder is
// none in a file.
func parsePosition(where string) (report.Position, bool) {
	m := positioned().FindStringSubmatch(where)
	if m == nil || strings.Contains(m[1], "://") {
		return report.Position{}, false
	}
	line, _ := strconv.Atoi(m[2])
	column, _ := strconv.Atoi(m[3])
	return report.Position{File: m[1], Line: line, Column: column}, true
}

// escapeData escapes the message of a command.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// escapeProperty escapes the value of a property, which also ends at , and :.
func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// joinLines joins what is not empty.
func joinLines(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n")
}
