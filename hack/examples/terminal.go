//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	patience  = 2 * time.Minute        // for a command to succeed
	again     = 250 * time.Millisecond // when it is asked again
	farewell  = 30 * time.Second       // for an operator to end
	lastLines = 12                     // of what a command printed, in an error
)

// A terminal is a shell in an example's folder, with a cluster of its own.
type terminal struct {
	dir string
	env []string
}

func newTerminal(bin, dir, home string) (*terminal, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	return &terminal{dir: dir, env: append(os.Environ(),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"SLIPWAY_STATE="+filepath.Join(home, "state"), "KUBECONFIG="+filepath.Join(home, "kubeconfig"))}, nil
}

func (t *terminal) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir, cmd.Env = t.dir, t.env
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs a command once.
func (t *terminal) run(ctx context.Context, line string) error {
	out, err := t.command(ctx, line).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", line, err, last(out))
	}
	return nil
}

// follow runs the commands of the second terminal, as long as the operator runs.
func (t *terminal) follow(ctx context.Context, operator *operator, lines []string) error {
	for _, line := range lines {
		if err := t.await(ctx, operator, line); err != nil {
			return err
		}
	}
	return nil
}

// await runs a command until it does what it is to do.
func (t *terminal) await(ctx context.Context, operator *operator, line string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		out, err := t.command(ctx, line).CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
			return fmt.Errorf("%s: %w\n%s", line, err, last(out))
		}
		if asItShould(line, err != nil, string(out)) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w\n%s\nthe operator says:\n%s", line, context.Cause(ctx), last(out), operator.says())
		case <-operator.done:
			return fmt.Errorf("the operator has ended:\n%s", operator.says())
		}
	}
}

// An operator is the command that runs until it is interrupted.
type operator struct {
	cmd  *exec.Cmd
	out  *os.File
	done chan struct{}
}

func (t *terminal) start(line string) (*operator, error) {
	out, err := os.CreateTemp("", "slipway-example-")
	if err != nil {
		return nil, err
	}
	cmd := t.command(context.Background(), line) // it is ended by a signal, and waited for
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, out.Close(), os.Remove(out.Name()))
	}
	o := &operator{cmd: cmd, out: out, done: make(chan struct{})}
	go func() { defer close(o.done); _ = cmd.Wait() }() // make says that it was interrupted
	return o, nil
}

// awaits waits until the operator shows that it works. What others do before that it might not see: an object that a
// webhook should have refused, for instance.
func (o *operator) awaits(ctx context.Context, works string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(o.out.Name())
		if err != nil || bytes.Contains(text, []byte(works)) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the operator does not show %q: %w\n%s", works, context.Cause(ctx), o.says())
		case <-o.done:
			return fmt.Errorf("the operator has ended:\n%s", o.says())
		}
	}
}

// end interrupts the operator as Ctrl-C does, and waits for it.
func (o *operator) end() (err error) {
	defer func() { err = errors.Join(err, o.out.Close(), os.Remove(o.out.Name())) }()
	_ = syscall.Kill(-o.cmd.Process.Pid, syscall.SIGINT) // it may have ended
	patience := time.NewTimer(farewell)
	defer patience.Stop()
	select {
	case <-o.done:
		return nil
	case <-patience.C:
		_ = syscall.Kill(-o.cmd.Process.Pid, syscall.SIGKILL)
		<-o.done
		return fmt.Errorf("the operator does not end when it is interrupted:\n%s", o.says())
	}
}

// says is the end of what the operator has printed.
func (o *operator) says() string {
	text, err := os.ReadFile(o.out.Name())
	if err != nil {
		return err.Error()
	}
	return last(text)
}

// last are the last lines of a text.
func last(text []byte) string {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	lines = lines[max(0, len(lines)-lastLines):]
	return "  " + strings.ReplaceAll(string(bytes.Join(lines, []byte("\n"))), "\n", "\n  ")
}
