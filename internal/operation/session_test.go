package operation

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// events are what a session's handler was given.
type events struct {
	mu  sync.Mutex
	all []report.Event
}

// Handle takes an event.
func (e *events) Handle(event report.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
}

// of returns the events of one type, in their order.
func of[E report.Event](e *events) []E {
	e.mu.Lock()
	defer e.mu.Unlock()
	var some []E
	for _, event := range e.all {
		if one, ok := event.(E); ok {
			some = append(some, one)
		}
	}
	return some
}

// begin returns a session in a folder, with a home, caches and state of its own, and what it has to tell.
func begin(t *testing.T, dir string) (*Session, *events) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	told := &events{}
	vars := map[string]string{
		"SLIPWAY_CACHE": filepath.Join(home, "slipway"), "SLIPWAY_STATE": filepath.Join(home, "state"), "SLIPWAY_CHECK": "off",
		"KUBECONFIG": filepath.Join(home, "kubeconfig"),
	}
	return &Session{
		Dir: dir, Getenv: func(name string) string { return vars[name] }, Handler: told,
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Output: io.Discard,
		Fail: func(err error) { told.Handle(report.Note{Text: err.Error()}) },
	}, told
}

// write writes a file below dir, and the folders that it needs.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// mistake returns the error that a user sees; there must be one.
func mistake(t *testing.T, err error) *report.Error {
	t.Helper()
	told, ok := errors.AsType[*report.Error](err)
	if !ok {
		t.Fatalf("the error is no report.Error: %v", err)
	}
	return told
}

// last is the last result; there must be one.
func last(t *testing.T, e *events) report.Result {
	t.Helper()
	results := of[report.Result](e)
	if len(results) == 0 {
		t.Fatal("there is no result")
	}
	return results[len(results)-1]
}
