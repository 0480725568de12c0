package ui

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/name.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// session is one of everything, in the order of a plausible invocation.
var session = []report.Event{
	report.Step{Name: "planning"},
	report.Step{Name: "planned", Elapsed: 12345 * time.Microsecond},
	report.File{Path: "api/v1/cronjob_types.go", Action: report.Created},
	report.File{Path: "PROJECT", Action: report.Updated, Why: "one more resource"},
	report.File{Path: "go.mod", Action: report.Unchanged},
	report.File{Path: "cmd/main.go", Action: report.Kept, Why: "you changed it"},
	report.Progress{Name: "compiling the cluster program", Done: 1, Total: 40, Unit: "packages", Elapsed: time.Second},
	report.Progress{Name: "compiling the cluster program", Done: 2, Total: 40, Unit: "packages", Elapsed: 2 * time.Second},
	report.Progress{Name: "compiling the cluster program", Done: 20, Total: 40, Unit: "packages", Elapsed: 31 * time.Second, Left: 31 * time.Second},
	report.Progress{Name: "compiling the cluster program", Done: 40, Total: 40, Unit: "packages", Elapsed: 62 * time.Second},
	report.Object{Name: "crd/cronjobs.batch.example.com", Action: report.Created},
	report.Object{Name: "namespace/system", Action: report.Unchanged},
	report.Note{Text: "the cluster is not the one of last time"},
	report.Warning{Text: "100% of the samples,\nall <of> them"},
	report.Finding{
		Position:   report.Position{File: "api/v1/cronjob_types.go", Line: 31, Column: 5},
		Message:    "unknown marker +kubebuilder:validaton:Minimum",
		Suggestion: "did you mean +kubebuilder:validation:Minimum?",
		Fatal:      true,
	},
	report.Finding{Position: report.Position{File: "a,b:c.go", Line: 2}, Message: "no doc"},
	report.Finding{Message: "no place at all"},
	report.Result{Text: "slipway v1.2.3", Value: map[string]string{"version": "v1.2.3"}},
}

// ending is an error with all its parts.
var ending = &report.Error{
	What:  "no project in this folder",
	Where: "/home/ada/operator",
	Hint:  "a file named PROJECT was expected\nhere or above",
	Next:  "slipway init --domain example.com",
	Err:   errors.New("open PROJECT: no such file or directory"),
	Code:  3,
}

// play sends the session and its ending to a handler.
func play(t *testing.T, h report.Handler) {
	t.Helper()
	for _, e := range session {
		h.Handle(e)
	}
	if code := Fail(h, fmt.Errorf("creating: %w", ending)); code != 3 {
		t.Errorf("Fail returned %d, want 3", code)
	}
}

func TestText(t *testing.T) {
	terminal := screen{terminal: true, color: true, width: func() int { return 90 }}
	for _, test := range []struct {
		name    string
		verbose bool
		screen  screen
	}{
		{"text", false, screen{}},
		{"verbose", true, screen{}},
		{"terminal", false, terminal},
		{"terminal-plain", false, screen{terminal: true, width: func() int { return 30 }}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			play(t, newText(&stdout, &stderr, test.verbose, test.screen))
			golden(t, test.name, readable(stderr.String()))
			if got, want := stdout.String(), "slipway v1.2.3\n"; got != want {
				t.Errorf("stdout is %q, want %q: results alone belong there", got, want)
			}
		})
	}
}

// readable makes control characters visible in golden files.
func readable(s string) string {
	return strings.NewReplacer("\r", "␍", "\x1b", "␛").Replace(s)
}

// TestHostileText: no name and no message makes a terminal do something.
func TestHostileText(t *testing.T) {
	const hostile = "a\x1b]0;b\ac\rd\u009be\u202ef\x7f"
	var out bytes.Buffer
	h := newText(io.Discard, &out, true, screen{})
	for _, e := range []report.Event{
		report.Step{Name: hostile}, report.Step{Name: hostile, Elapsed: time.Second}, report.File{Path: hostile, Action: report.Kept, Why: hostile},
		report.Object{Name: hostile, Action: report.Kept, Why: hostile}, report.Progress{Name: hostile}, report.Note{Text: hostile},
		report.Warning{Text: hostile}, report.Finding{Position: report.Position{File: hostile, Line: 1}, Message: hostile, Suggestion: hostile},
	} {
		h.Handle(e)
	}
	Fail(h, &report.Error{What: hostile, Where: hostile, Err: errors.New(hostile), Hint: hostile, Next: hostile})
	if at := strings.IndexAny(out.String(), "\x1b\a\r\u009b\u202e\x7f"); at >= 0 {
		t.Errorf("a character that acts is at %d of %q", at, out.String())
	}
	if want := `a\x1b]0;b\ac\rd\u009be\u202ef\x7f`; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in %q", want, out.String())
	}
}

func TestJSON(t *testing.T) {
	var stdout bytes.Buffer
	play(t, newJSON(&stdout))
	golden(t, "json", stdout.String())
}

func TestAnnotations(t *testing.T) {
	var out bytes.Buffer
	play(t, newAnnotations(&out, "/checkout/operator", report.Discard))
	Fail(newAnnotations(&out, "", report.Discard),
		&report.Error{What: "cannot be parsed", Where: "config/crd/kustomization.yaml:3:7", Hint: "expected a list"})
	golden(t, "annotations", filepath.ToSlash(out.String()))
}

func TestNew(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for _, p := range pairs {
				if k, v, _ := strings.Cut(p, "="); k == name {
					return v
				}
			}
			return ""
		}
	}
	for _, test := range []struct {
		name    string
		options Options
		want    string
	}{
		{"default", Options{}, "*ui.text"},
		{"text", Options{Format: Text, Getenv: env("NO_COLOR=1")}, "*ui.text"},
		{"json", Options{Format: JSON, Getenv: env("GITHUB_ACTIONS=true")}, "*ui.lines"},
		{"actions", Options{Getenv: env("GITHUB_ACTIONS=true")}, "*ui.annotations"},
		{"not actions", Options{Getenv: env("GITHUB_ACTIONS=false")}, "*ui.text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, err := New(io.Discard, io.Discard, test.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%T", h.(*pulse).next); got != test.want {
				t.Errorf("New returned a %s, want %s", got, test.want)
			}
		})
	}
	if _, err := New(io.Discard, io.Discard, Options{Format: "xml"}); Fail(report.Discard, err) != 2 {
		t.Errorf("New(xml) returned %v, want an error with code 2", err)
	}
}

func TestFail(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		code int
		text string
	}{
		{"nothing", nil, 0, ""},
		{"any error", errors.New("disk full"), 1, "error: disk full\n"},
		{"interrupt", fmt.Errorf("apply: %w", context.Canceled), 130, "interrupted\n"},
		{"interrupt inside a report", &report.Error{What: "cannot apply", Err: context.Canceled}, 130, "interrupted\n"},
		{"own code beats interrupt", &report.Error{What: "the manager ended with status 4", Err: context.Canceled, Code: 4}, 4,
			"error: the manager ended with status 4\n  why:   context canceled\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stderr bytes.Buffer
			if code := Fail(newText(io.Discard, &stderr, false, screen{}), test.err); code != test.code {
				t.Errorf("code is %d, want %d", code, test.code)
			}
			if diff := cmp.Diff(test.text, stderr.String()); diff != "" {
				t.Errorf("text differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFailElsewhere shows that an error is not lost on a handler of another package.
func TestFailElsewhere(t *testing.T) {
	var got report.Event
	Fail(report.HandlerFunc(func(e report.Event) { got = e }), ending)
	if want := (report.Note{Text: ending.What}); got != want {
		t.Errorf("handler got %v, want %v", got, want)
	}
}

// TestConcurrent is for the race detector, and checks that lines stay whole.
func TestConcurrent(t *testing.T) {
	var stdout, stderr bytes.Buffer
	text, lines := newText(io.Discard, &stderr, false, screen{}), newJSON(&stdout)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				text.Handle(report.Note{Text: "one line"})
				lines.Handle(report.Note{Text: "one line"})
			}
		})
	}
	all.Wait()
	if want := strings.Repeat("one line\n", 400); stderr.String() != want {
		t.Error("text lines are mixed")
	}
	if want := strings.Repeat(`{"event":"note","text":"one line"}`+"\n", 400); stdout.String() != want {
		t.Error("JSON lines are mixed")
	}
}
