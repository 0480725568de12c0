package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// outputDelay bounds the wait for output after a child has ended, for a
// grandchild may hold its pipes open.
const outputDelay = 2 * time.Second

// A killedError says why a child was killed.
type killedError struct{ why, err error }

func (e *killedError) Error() string { return e.why.Error() }

func (e *killedError) Unwrap() []error { return []error{e.why, e.err} }

// Why a child was killed.
var (
	ErrImpatient = errors.New("a second Ctrl-C killed it before it had stopped")
	ErrGrace     = errors.New("it was killed, since it did not stop in time")
)

// Supervise runs cmd, which is of [Command], until it ends, and returns what [exec.Cmd.Wait] does. When
// ctx ends first, the child is asked to stop; after grace, or at another
// signal to this process, it is killed. Nothing of its session is left when
// Supervise returns. The error says why a child was killed.
func Supervise(ctx context.Context, cmd *exec.Cmd, grace time.Duration) (err error) {
	separate(cmd)
	cmd.WaitDelay = outputDelay
	started, done := make(chan struct{}), make(chan error, 1)
	go run(cmd, started, done)
	<-started
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	impatient := make(chan os.Signal, 1)
	signal.Notify(impatient, os.Interrupt, syscall.SIGTERM)
	// A terminal that closes is told of by several signals in a row: they are one request, and no impatience.
	defer signal.Stop(impatient)
	interrupt(cmd)
	select {
	case err = <-done:
		return err
	case <-impatient:
		err = ErrImpatient
	case <-time.After(grace):
		err = ErrGrace
	}
	kill(cmd)
	if ended := <-done; ended != nil {
		return &killedError{err, ended}
	}
	return nil
}

// run starts cmd and waits for it, on one thread: the kernel ends the child when
// the thread that started it ends, see separate.
func run(cmd *exec.Cmd, started chan<- struct{}, done chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	close(started)
	if err == nil {
		err = cmd.Wait()
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil // the child has ended well; who holds its pipes is swept away
		}
		sweep(cmd)
	}
	done <- err
}
