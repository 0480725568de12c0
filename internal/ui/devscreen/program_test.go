//go:build unix

package devscreen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/slipway-dev/slipway/internal/report"
)

// modeVariable makes the test binary a program that has the screen up: its value is a key of loops.
const modeVariable = "DEVSCREEN_TEST_LOOP"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(modeVariable); mode {
	case "":
		os.Exit(m.Run())
	case "shell":
		shell()
	default:
		play(mode)
	}
}

// loop is a dev loop that a test needs.
type loop func(ctx context.Context, h report.Handler, commands <-chan Command) error

var loops = map[string]loop{
	"parts": parts, "log": log, "flood": flood, "ending": slowEnd, "deaf": deaf,
	"panic": func(_ context.Context, _ report.Handler, commands <-chan Command) error {
		<-commands
		panic("the loop panics")
	},
	"failed": func(_ context.Context, h report.Handler, commands <-chan Command) error {
		<-commands
		h.Handle(report.Note{Text: "the last words"})
		return errors.New("the loop failed")
	},
}

// play runs a loop below the screen, and writes how that ended.
func play(mode string) {
	signal.Reset(syscall.SIGHUP)
	commands := make(chan Command, 1)
	o := Options{
		Input: os.Stdin, Output: os.Stdout, Environ: os.Environ(), Color: os.Getenv("NO_COLOR") == "", Commands: commands,
		Available: []Command{Restart, ApplySamples, RunTests, Debug, LogLevel, AddMarker}, Module: "example.com/operator",
	}
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	err := run(context.Background(), o, func(ctx context.Context, h report.Handler) error {
		return loops[mode](ctx, h, commands)
	}, func() time.Time { return noon })
	fmt.Printf("over: %v\n", err)
}

// state is one of every state, as a loop reports them.
var state = []report.Event{
	report.Part{Name: report.ClusterPart, State: report.Ready, Elapsed: 2100 * time.Millisecond, Text: "Kubernetes v1.37.1 at https://127.0.0.1:6443"},
	report.Part{Name: report.GeneratePart, State: report.Ready, Save: 3, Elapsed: 14 * time.Millisecond},
	report.Part{Name: report.InstallPart, State: report.Ready, Save: 3, Elapsed: 31 * time.Millisecond, Text: "2 CRDs, 1 webhook configuration"},
	report.Part{Name: report.TestsPart, State: report.Idle},
	report.Part{Name: report.BuildPart, State: report.Failed, Save: 3, Elapsed: 812 * time.Millisecond, Text: "internal/controller/cronjob_controller.go:42:9: undefined: batchv1beta1 (and 14 more errors in 3 packages, see above)\x1b[2J"},
	report.Part{Name: report.WebhooksPart, State: report.Working, Save: 3, Text: "waiting for the manager"},
	report.Part{Name: report.ManagerPart, State: report.Ready, Save: 2, Elapsed: 3 * time.Second, Text: "process 4711, of save 2"},
}

// words are what a loop and its manager write.
var words = []report.Event{
	report.Output{Part: report.ManagerPart, Text: `{"level":"info","logger":"setup","msg":"starting manager"}`},
	report.Output{Part: report.ManagerPart, Text: `{"level":"debug","msg":"created job","controller":"cronjob","controllerKind":"CronJob","CronJob":{"name":"sample","namespace":"default"},"reconcileID":"3f2a1b2c","job":"sample-28"}`},
	report.Output{Part: report.ManagerPart, Text: `{"level":"error","msg":"Reconciler error","controller":"cronjob","controllerKind":"CronJob","CronJob":{"name":"sample","namespace":"default"},"reconcileID":"b92a1b2c","error":"jobs.batch is forbidden: User \"system:serviceaccount:default:manager\" cannot create resource","stacktrace":"example.com/operator/internal/controller.(*CronJobReconciler).Reconcile\n\t/src/controller.go:12\nother.com/x.f\n\t/x.go:1"}`},
	report.Output{Part: report.TestsPart, Text: "ok  \texample.com/operator\t0.3s"},
	report.Output{Part: report.ManagerPart, Text: "\x1b]0;title\a a hostile line\r\x1b[2J"},
	report.Finding{Position: report.Position{File: "internal/controller/cronjob_controller.go", Line: 42, Column: 9}, Message: "undefined: batchv1beta1", Suggestion: "import it", Fatal: true},
	report.Warning{Text: "two managers"},
	report.File{Path: "config/rbac/role.yaml", Action: report.Updated},
	report.Step{Name: "installed", Elapsed: 12 * time.Millisecond},
	report.Note{Text: "all is shown"},
	report.Step{Name: "compiling the cluster program"},
}

func tell(h report.Handler, events []report.Event) {
	for _, e := range events {
		h.Handle(e)
	}
}

// parts shows the states, and the words when it is asked to restart.
func parts(ctx context.Context, h report.Handler, commands <-chan Command) error {
	tell(h, state)
	return obey(ctx, h, commands)
}

// log shows the words and no part.
func log(ctx context.Context, h report.Handler, commands <-chan Command) error {
	return obey(ctx, h, commands)
}

// obey answers commands until the loop is to end.
func obey(ctx context.Context, h report.Handler, commands <-chan Command) error {
	for {
		select {
		case c := <-commands:
			if c == Restart {
				tell(h, words)
			} else {
				h.Handle(report.Note{Text: "asked to " + string(c)})
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lines is how many lines flood writes.
const lines = 100_000

// flood writes lines as fast as it can, and then how much memory that took.
func flood(ctx context.Context, h report.Handler, commands <-chan Command) error {
	tell(h, state[:3])
	<-commands
	var at atomic.Int64
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for range 3 {
			<-commands
			h.Handle(report.Note{Text: fmt.Sprintf("answered after %d", at.Load())})
		}
	}()
	before, peak := live(), int64(0)
	for n := range lines {
		at.Store(int64(n))
		h.Handle(report.Output{Part: report.ManagerPart, Text: fmt.Sprintf(`{"level":"info","msg":"line %d","logger":"flood","padding":"%s"}`, n, strings.Repeat("x", 100))})
		if n%5000 == 0 {
			peak = max(peak, live())
		}
	}
	h.Handle(report.Note{Text: fmt.Sprintf("grown by %d KiB", (peak-before)>>10)})
	<-answered
	h.Handle(report.Note{Text: "the flood is over"})
	return obey(ctx, h, commands)
}

// live is the memory in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// slowEnd ends when it was asked to, and then waits for a second signal.
func slowEnd(ctx context.Context, h report.Handler, _ <-chan Command) error {
	h.Handle(report.Note{Text: "the loop is up"})
	<-ctx.Done()
	h.Handle(report.Note{Text: "the loop has ended: " + context.Cause(ctx).Error()})
	return context.Cause(ctx)
}

// deaf never ends.
func deaf(_ context.Context, h report.Handler, _ <-chan Command) error {
	h.Handle(report.Note{Text: "the loop is up"})
	select {}
}

// shell starts a program in a job of its own, says when it stops, and continues it when it reads a line. Job and shell
// have their own modes of the terminal, as with bash.
func shell() {
	signal.Ignore(syscall.SIGTTOU)
	own, err := term.GetState(0)
	if err != nil {
		fmt.Println(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), modeVariable+"=parts")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := child.Start(); err != nil {
		fmt.Println(err)
		return
	}
	for {
		var status unix.WaitStatus
		if _, err := unix.Wait4(child.Process.Pid, &status, unix.WUNTRACED, nil); errors.Is(err, unix.EINTR) {
			continue
		}
		if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, unix.Getpgrp()); err != nil {
			fmt.Println(err)
		}
		jobs, _ := term.GetState(0)
		_ = term.Restore(0, own)
		if !status.Stopped() {
			fmt.Println("the job has ended")
			return
		}
		fmt.Println("\n[1]+ Stopped")
		var line string
		_, _ = fmt.Scanln(&line)
		_ = term.Restore(0, jobs)
		_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, child.Process.Pid)
		_ = unix.Kill(-child.Process.Pid, unix.SIGCONT)
	}
}
