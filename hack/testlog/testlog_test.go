package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// suite is a run as go test -json tells it: one test passes, one fails, one is still there at the end.
const suite = `{"Action":"run","Package":"p","Test":"TestFine"}
{"Action":"output","Package":"p","Test":"TestFine","Output":"not to be seen\n"}
{"Action":"pass","Package":"p","Test":"TestFine","Elapsed":3}
{"Action":"run","Package":"p","Test":"TestBad"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"    bad_test.go:1: too late\n"}
{"Action":"run","Package":"p","Test":"TestBad/deep"}
{"Action":"fail","Package":"p","Test":"TestBad/deep","Elapsed":2}
{"Action":"fail","Package":"p","Test":"TestBad","Elapsed":4}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t9.1s\n"}
{"Action":"fail","Package":"p","Elapsed":9}
found nothing to build
{"ImportPath":"r","Action":"build-output","Output":"r.go:1: no such thing\n"}
{"Action":"run","Package":"q","Test":"TestEndless"}
{"Action":"output","Package":"q","Test":"TestEndless","Output":"goroutine 1 [running]:\n"}
{"Action":"output","Package":"q","Output":"ok  \tq\t0.1s\n"}
`

func TestScreen(t *testing.T) {
	var out, log bytes.Buffer
	s := newScreen(&out, &log)
	if err := s.read(strings.NewReader(suite)); err != nil {
		t.Fatal(err)
	}
	s.rest()
	want := "    bad_test.go:1: too late\nFAIL\tp\t9.1s\nfound nothing to build\nr.go:1: no such thing\nok  \tq\t0.1s\n--- did not end: q TestEndless\ngoroutine 1 [running]:\n"
	if out.String() != want {
		t.Errorf("shown is\n%s\nwant\n%s", out.String(), want)
	}
	if n := strings.Count(log.String(), "\n"); n != 4 {
		t.Errorf("the log has %d events:\n%s", n, log.String())
	}
}

// TestLongFailure: of a test that printed much, the end is shown and the log has all.
func TestLongFailure(t *testing.T) {
	var out, log bytes.Buffer
	s := newScreen(&out, &log)
	for i := range 3 * tail {
		if err := s.handle(event{Action: "output", Package: "p", Test: "TestBad", Output: fmt.Sprintf("line %d\n", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.handle(event{Action: "fail", Package: "p", Test: "TestBad"}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "\n") != tail+1 || !strings.HasSuffix(got, "line 239\n") || !strings.Contains(got, "TestBad: its last 80 lines; 160 before them are in the log") {
		t.Errorf("shown is\n%s", got)
	}
	if n := strings.Count(log.String(), `"Output":"line `); n != 3*tail {
		t.Errorf("the log is %s", log.String())
	}
}

// TestSilence: when nothing is shown for a while, what runs is, without the tests that wait for others.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := newScreen(&out, &bytes.Buffer{})
		events := `{"Action":"run","Package":"p","Test":"TestWaits"}
{"Action":"pause","Package":"p","Test":"TestWaits"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/b"}
{"Action":"pause","Package":"p","Test":"TestA/b"}
{"Action":"cont","Package":"p","Test":"TestA/b"}
`
		if err := s.read(strings.NewReader(events)); err != nil {
			t.Fatal(err)
		}
		ended, over := make(chan struct{}), make(chan struct{})
		go func() { s.watch(patience, ended); close(over) }()
		time.Sleep(patience + time.Second)
		close(ended)
		<-over
		if got := out.String(); got != "… 0 tests have ended; now: TestA/b (15s)\n" {
			t.Errorf("shown is %q", got)
		}
	})
}

func TestSlowest(t *testing.T) {
	all := []event{{Package: "p", Test: "TestA", Elapsed: 9}, {Package: "p", Test: "TestA/x/y", Elapsed: 8}, {Package: "p", Test: "TestB", Elapsed: 8.5}, {Package: "p", Elapsed: 20}, {Package: "q", Test: "TestA", Elapsed: 1}}
	var names []string
	for _, e := range slowest(all, 2) {
		names = append(names, e.Test)
	}
	if want := []string{"TestB", "TestA/x/y"}; !slices.Equal(names, want) {
		t.Errorf("slowest are %q, want %q", names, want)
	}
}

// TestFollow: a real run of go test ends with its own line, and its exit code stands for it.
func TestFollow(t *testing.T) {
	var shown bytes.Buffer
	log := filepath.Join(t.TempDir(), "log")
	if err := run(t.Context(), &shown, options{log: log, dir: "."}, []string{"go", "test", "-json", "-vet=off", "-run", "TestSlowest", "."}); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(shown.String(), "ok  \t") {
		t.Errorf("shown is %q", shown.String())
	}
	var out bytes.Buffer
	if err := list(&out, log, 1); err != nil || !strings.Contains(out.String(), "TestSlowest") {
		t.Errorf("the log lists %q, %v", out.String(), err)
	}
	if err := run(t.Context(), &shown, options{log: log, dir: "."}, []string{"go", "test", "-json", "./nowhere"}); err == nil {
		t.Error("a run that fails ends well")
	}
}

// TestSeveral: a command that fails is named at the end, and the others run nevertheless.
func TestSeveral(t *testing.T) {
	var shown bytes.Buffer
	elsewhere := t.TempDir()
	args := []string{"sh", "-c", "exit 3", "--", "-dir", elsewhere, "pwd", "--", "echo", "third", "--"}
	err := run(t.Context(), &shown, options{log: filepath.Join(elsewhere, "log"), dir: "."}, args[:len(args)-1])
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
		t.Errorf("the error is %v", err)
	}
	for _, want := range []string{elsewhere + "\n", "third\n"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not in %q", want, shown.String())
		}
	}
	if !strings.HasSuffix(shown.String(), "\nfailed in .: sh -c exit 3\n") {
		t.Errorf("shown is %q", shown.String())
	}
	if err := run(t.Context(), &shown, options{log: filepath.Join(elsewhere, "log"), dir: "."}, args[3:]); !errors.Is(err, errNoCommand) {
		t.Errorf("after the last -- there is no command: %v", err)
	}
}

// TestParts: the last pass of each part counts, and a part is due after a week of commits.
func TestParts(t *testing.T) {
	cache, repository := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	t.Setenv("LocalAppData", cache)
	at := options{dir: repository, log: filepath.Join(cache, "log")}
	for _, step := range []struct{ made, passes string }{
		{"2026-01-01T12:00:00Z", "helm"}, {"2026-01-10T12:00:00Z", "real"}, {"2026-01-11T12:00:00Z", "kills"}, {"2026-01-17T12:00:00Z", "kills"},
	} {
		commitAt(t, repository, step.made)
		at.passed = step.passes
		if err := run(t.Context(), io.Discard, at, nil); err != nil {
			t.Fatal(err)
		}
	}
	// A part whose tests were all skipped has not passed, one of which a test ran has. A line that is none is left out.
	for part, events := range map[string][]event{"matrix": {{Test: "TestA/x", Action: "skip"}, {Test: "TestA", Action: "pass"}, {Action: "pass"}}, "real": {{Test: "TestA", Action: "skip"}, {Test: "TestB", Action: "pass"}}} {
		for _, e := range events {
			if err := addLine(at.log, e); err != nil {
				t.Fatal(err)
			}
		}
		at.passed = part
		if err := run(t.Context(), io.Discard, at, nil); err != nil {
			t.Fatal(err)
		}
	}
	file, err := partsFile()
	if err != nil {
		t.Fatal(err)
	}
	if err := addLine(file, "no pass"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, options{dir: repository, parts: true}, []string{"helm", "kills", "matrix", "real"}); err != nil {
		t.Fatal(err)
	}
	var due []string
	for line := range strings.Lines(out.String()) {
		part, _, _ := strings.Cut(line, " ")
		if strings.HasSuffix(line, "due: make test-long-"+part+"\n") {
			due = append(due, part)
		}
	}
	if want := []string{"helm", "matrix"}; !slices.Equal(due, want) || strings.Count(out.String(), "\n") != 5 || !strings.Contains(out.String(), " is no pass: ") {
		t.Errorf("due are %v, want %v:\n%s", due, want, out.String())
	}
}

// TestPassWithoutHome: a part passes where that cannot be written down.
func TestPassWithoutHome(t *testing.T) {
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}
	var out bytes.Buffer
	err := run(t.Context(), &out, options{dir: t.TempDir(), log: filepath.Join(t.TempDir(), "log"), passed: "helm"}, nil)
	if err != nil || !strings.HasPrefix(out.String(), "test-long-helm has passed, which cannot be written down") {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// commitAt makes a commit without files, in a repository that is made if there is none.
func commitAt(t *testing.T, dir, date string) {
	t.Helper()
	for _, args := range [][]string{{"init", "--quiet"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "--message", date}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE="+date, "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}
