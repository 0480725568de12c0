package dev

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
)

// roleVariable makes this test binary one of the programs below.
const roleVariable = "SLIPWAY_DEV_TEST_ROLE"

func TestMain(m *testing.M) {
	roles := map[string]func(){"polite": polite, "stubborn": stubborn, "slow": slow, "family": family, "caller": caller, "served": servedAlone, "guard": guardAlone, "seven": func() { os.Exit(7) }}
	if role := os.Getenv(roleVariable); role != "" {
		roles[role]()
		os.Exit(0)
	}
	if signal.Ignored(os.Interrupt) { // as in the background of a script, and what is started would ignore it, too
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	os.Exit(m.Run())
}

// polite says that it runs, and ends when asked.
func polite() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt)
	fmt.Println("running")
	<-asked
	fmt.Println("ended politely")
}

// stubborn says that it runs, and does not end.
func stubborn() {
	signal.Ignore(os.Interrupt)
	fmt.Println("running")
	<-time.After(time.Hour) // it is killed before
}

// slow says that it runs, and that it was asked to end, and does not.
func slow() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt)
	fmt.Println("running")
	<-asked
	fmt.Println("running")
	<-time.After(time.Hour) // it is killed before
}

// family has a stubborn child, in a process group of its own as envtest's are.
func family() {
	child := program("stubborn", os.Stdout)
	lead(child)
	if err := child.Start(); err != nil {
		panic(err)
	}
	_ = child.Wait()
}

// caller supervises a stubborn child.
func caller() { _ = process.Supervise(context.Background(), program("stubborn", os.Stdout), time.Hour) }

// program is this test binary in a role.
func program(role string, stdout *os.File) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stdout, cmd.Stderr = stdout, os.Stderr
	return cmd
}

// output returns a pipe for children: the reader meets its end when the last
// process that holds the writer is gone.
func output(t *testing.T) (*bufio.Reader, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return bufio.NewReader(r), w
}

// untilRunning waits for a program to say so.
func untilRunning(t *testing.T, r *bufio.Reader) {
	t.Helper()
	if line, err := r.ReadString('\n'); err != nil || line != "running\n" {
		t.Errorf("the program says %q, %v", line, err)
	}
}

// untilGone waits until nobody holds the pipe, and returns what else was said.
func untilGone(t *testing.T, r *bufio.Reader, w *os.File) string {
	t.Helper()
	_ = w.Close()
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	return string(rest)
}

func TestSupervise(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the console interrupts children there")
	}
	for _, test := range []struct {
		role  string
		grace time.Duration
		code  int
		why   error
		last  string
	}{
		{"polite", time.Minute, 0, nil, "ended politely\n"},
		{"stubborn", time.Millisecond, 128 + 9, process.ErrGrace, ""},
		{"family", time.Minute, 128 + 2, nil, ""},
	} {
		t.Run(test.role, func(t *testing.T) {
			r, w := output(t)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { untilRunning(t, r); cancel() }()
			err := process.Supervise(ctx, program(test.role, w), test.grace)
			if code := codeOf(ended("failed", err)); code != test.code {
				t.Errorf("code is %d (%v), want %d", code, err, test.code)
			}
			if test.why != nil && !errors.Is(err, test.why) || test.why == nil && (errors.Is(err, process.ErrGrace) || errors.Is(err, process.ErrImpatient)) {
				t.Errorf("it ended with %v, want %v", err, test.why)
			}
			if last := untilGone(t, r, w); last != test.last {
				t.Errorf("last words are %q, want %q", last, test.last)
			}
		})
	}
}

// TestSecondInterrupt: a user who presses Ctrl-C again reads what that did, and not only the signal.
func TestSecondInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the console interrupts children there")
	}
	r, w := output(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		untilRunning(t, r)
		cancel()
		untilRunning(t, r) // it was asked, so that this process waits for a second one
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Signal(os.Interrupt)
		}
		if err != nil {
			t.Error(err)
		}
	}()
	err := ended("the manager failed", process.Supervise(ctx, program("slow", w), time.Hour))
	if codeOf(err) != 128+9 || !errors.Is(err, process.ErrImpatient) {
		t.Errorf("got %v, code %d", err, codeOf(err))
	}
	if last := untilGone(t, r, w); last != "" {
		t.Errorf("last words are %q", last)
	}
}

// codeOf is the exit code of a report.Error; 0 means none.
func codeOf(err error) int {
	if known, ok := errors.AsType[*report.Error](err); ok {
		return known.ExitCode()
	}
	return 0
}

func TestSuperviseCode(t *testing.T) {
	err := ended("it failed", process.Supervise(t.Context(), program("seven", nil), time.Hour))
	if codeOf(err) != 7 {
		t.Errorf("error is %v, want one with code 7", err)
	}
}

func TestSuperviseMissing(t *testing.T) {
	err := ended("it failed", process.Supervise(t.Context(), exec.Command("no-such-program-anywhere"), time.Hour))
	if codeOf(err) != 1 || !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("error is %v, want one that wraps exec.ErrNotFound", err)
	}
}

// TestKilledHard: a child does not outlive us, even when nobody can end it.
func TestKilledHard(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends children with their parent")
	}
	r, w := output(t)
	cmd := program("caller", w)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	untilRunning(t, r)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if last := untilGone(t, r, w); strings.TrimSpace(last) != "" {
		t.Errorf("last words are %q", last)
	}
}
