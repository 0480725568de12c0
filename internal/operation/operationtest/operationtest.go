// Package operationtest has sessions for tests of operations.
package operationtest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// Events are what a session's handler was given.
type Events struct {
	mu  sync.Mutex
	All []report.Event
}

// Handle takes an event.
func (e *Events) Handle(event report.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.All = append(e.All, event)
}

// Of returns the events of one type, in their order.
func Of[E report.Event](e *Events) []E {
	e.mu.Lock()
	defer e.mu.Unlock()
	var some []E
	for _, event := range e.All {
		if one, ok := event.(E); ok {
			some = append(some, one)
		}
	}
	return some
}

// Begin returns a session in a folder, with a home, caches and state of its own, and the events that its handler gets.
func Begin(t *testing.T, dir string) (*operation.Session, *Events) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	seen := &Events{}
	vars := map[string]string{
		"SLIPWAY_CACHE": filepath.Join(home, "slipway"), "SLIPWAY_STATE": filepath.Join(home, "state"), "SLIPWAY_CHECK": "off",
		"KUBECONFIG": filepath.Join(home, "kubeconfig"),
	}
	return &operation.Session{
		Dir: dir, Getenv: func(name string) string { return vars[name] }, Handler: seen,
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Output: io.Discard,
		Fail: func(err error) { seen.Handle(report.Note{Text: err.Error()}) },
	}, seen
}

// Write writes a file below dir, and the folders that it needs.
func Write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Err is the error of an operation whose value a test has no use for.
func Err[T any](_ T, err error) error { return err }

// Mistake returns the error that a user sees; there must be one.
func Mistake(t *testing.T, err error) *report.Error {
	t.Helper()
	seen, ok := errors.AsType[*report.Error](err)
	if !ok {
		t.Fatalf("the error is no report.Error: %v", err)
	}
	return seen
}

// Last is the last result; there must be one.
func Last(t *testing.T, e *Events) report.Result {
	t.Helper()
	results := Of[report.Result](e)
	if len(results) == 0 {
		t.Fatal("there is no result")
	}
	return results[len(results)-1]
}

const ProjectFile = "domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: sample\nrepo: example.com/sample\nversion: \"3\"\n"
