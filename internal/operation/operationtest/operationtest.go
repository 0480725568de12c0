// Package operationtest provides sessions for tests of operations.
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

// Events records what a session's handler receives. Handle and [Of] are safe for concurrent use.
type Events struct {
	mu  sync.Mutex
	All []report.Event
}

// Handle implements [report.Handler].
func (e *Events) Handle(event report.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.All = append(e.All, event)
}

// Of returns the events of type E in order.
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

// Begin returns a session in dir with its own home, cache and state folders, and the events of its handler. CRD checks
// are off.
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

// Write writes a file below dir and creates its folders.
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

// Err returns only the error of an operation.
func Err[T any](_ T, err error) error { return err }

// Mistake returns err as the [report.Error] that a user sees. It fails the test if err is none.
func Mistake(t *testing.T, err error) *report.Error {
	t.Helper()
	seen, ok := errors.AsType[*report.Error](err)
	if !ok {
		t.Fatalf("the error is no report.Error: %v", err)
	}
	return seen
}

// Last returns the last result. It fails the test if there is none.
func Last(t *testing.T, e *Events) report.Result {
	t.Helper()
	results := Of[report.Result](e)
	if len(results) == 0 {
		t.Fatal("there is no result")
	}
	return results[len(results)-1]
}

const ProjectFile = "domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: sample\nrepo: example.com/sample\nversion: \"3\"\n"
