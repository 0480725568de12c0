package clustertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/process"
)

// Build compiles a package main with go build, such as "../../cmd", and returns the path of the program. It goes with
// t.
func Build(t testing.TB, pkg string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "program")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd, err := process.Command(t.Context(), "go", "build", "-o", program, pkg)
	if err != nil {
		fatal(t, err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("clustertest: %s does not build: %v\n%s", pkg, err, out)
	}
	return program
}

// A Process is a program that works behind a [Door].
type Process struct {
	cmd  *exec.Cmd
	kill context.CancelFunc
	done chan struct{} // closed once it has ended; err is set by then
	err  error
	once sync.Once
}

// Run starts a program that reads the variable KUBECONFIG, as managers of controller-runtime do, and comes in by the
// door. Its output is the test's. It is killed at the end of t; if it has ended by itself before, t fails.
func (d *Door) Run(t testing.TB, program string, args ...string) *Process {
	t.Helper()
	ctx, kill := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd, err := process.Command(ctx, program, args...)
	if err != nil {
		kill()
		fatal(t, err)
	}
	cmd.Env = append(os.Environ(), "KUBECONFIG="+d.Kubeconfig())
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		kill()
		fatal(t, &fault.Error{What: "a program cannot be started", Where: program, Err: err})
	}
	p := &Process{cmd: cmd, kill: kill, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
	}()
	t.Cleanup(func() { p.end(t) })
	return p
}

// Kill ends the process without asking, as a machine that fails does, and returns once it has ended.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	p.end(t)
}

// end kills the process, unless that was done before. It fails t if the process has ended by itself.
func (p *Process) end(t testing.TB) {
	t.Helper()
	p.once.Do(func() {
		select {
		case <-p.done:
			t.Errorf("clustertest: %s has ended by itself: %v", p.cmd.Path, p.err)
		default:
		}
		p.kill()
		<-p.done
	})
}
