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

// outputDelay bounds the wait for output after a child has ended, for a grandchild may hold its pipes open.
const outputDelay = 2 * time.Second

// A Child is a program that this process started. Its end is waited for in the background, so that no zombie stays.
type Child struct {
	cmd      *exec.Cmd
	detached bool
	done     chan struct{}
	err      error
}

// Start starts cmd, which is of [Command], as the leader of a session of its own: signals of the terminal do not reach
// it. When the child has ended, by itself or not, nothing of its session is left. On Linux the kernel kills it when
// this process is killed.
func Start(cmd *exec.Cmd) (*Child, error) {
	separate(cmd)
	cmd.WaitDelay = outputDelay
	c := &Child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go c.run(started)
	return c, <-started
}

// StartDetached starts cmd so that it may outlive this process and the terminal. Its own children are its own affair.
func StartDetached(cmd *exec.Cmd) (*Child, error) {
	detach(cmd)
	c := &Child{cmd: cmd, detached: true, done: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.done)
		c.err = cmd.Wait()
	}()
	return c, nil
}

// run starts the child and waits for it, on one thread: the kernel ends the child when the thread that started it ends,
// see separate.
func (c *Child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.done)
	c.err = c.cmd.Start()
	started <- c.err
	if c.err != nil {
		return
	}
	c.err = c.cmd.Wait()
	if errors.Is(c.err, exec.ErrWaitDelay) {
		c.err = nil // the child has ended well; what holds its pipes is swept away
	}
	sweep(c.cmd)
}

// PID is the child's process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Done is closed once the child has ended and its output has been read.
func (c *Child) Done() <-chan struct{} { return c.done }

// Wait waits for the child's end and returns what [exec.Cmd.Wait] does.
func (c *Child) Wait() error {
	<-c.done
	return c.err
}

// Stop asks the child to end, kills it after a time of grace, and returns once it has ended: [ErrGrace] if it was
// killed, else as [Child.Wait].
func (c *Child) Stop(grace time.Duration) error {
	c.interrupt()
	return c.Expire(grace)
}

// Expire is [Child.Stop] for a child that knows already that it is to end.
func (c *Child) Expire(grace time.Duration) error {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.done:
		return c.err
	case <-timer.C:
		return c.end(ErrGrace)
	}
}

// end kills the child, for a reason.
func (c *Child) end(why error) error {
	c.Kill()
	<-c.done
	if c.err != nil {
		return &killedError{why, c.err}
	}
	return nil
}

// interrupt asks the child to end: one in a session of its own with its group, as a terminal would.
func (c *Child) interrupt() {
	if c.detached {
		terminate(c.cmd)
		return
	}
	interrupt(c.cmd)
}

// Kill ends the child without asking, with its group if it has a session of its own.
func (c *Child) Kill() {
	if c.detached {
		_ = c.cmd.Process.Kill() // it may have ended, which is what is wanted
		return
	}
	kill(c.cmd)
}

// A killedError says why a child was killed.
type killedError struct{ why, err error }

func (e *killedError) Error() string { return e.why.Error() }

func (e *killedError) Unwrap() []error { return []error{e.why, e.err} }

// Why a child was killed.
var (
	ErrImpatient = errors.New("a second Ctrl-C killed it before it had stopped")
	ErrGrace     = errors.New("it was killed, since it did not stop in time")
)

// Supervise runs cmd until it ends, as [Start] and [Child.Await] do.
func Supervise(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	c, err := Start(cmd)
	if err != nil {
		return err
	}
	return c.Await(ctx, grace)
}

// Await waits for the child's end and returns what [exec.Cmd.Wait] does. When ctx ends first, the child is asked to
// stop; after grace, or at another signal to this process, it is killed. The error says why a child was killed.
func (c *Child) Await(ctx context.Context, grace time.Duration) error {
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
	}
	impatient := make(chan os.Signal, 1)
	signal.Notify(impatient, os.Interrupt, syscall.SIGTERM)
	// A terminal that closes sends several signals in a row: they are one request, and no impatience.
	defer signal.Stop(impatient)
	c.interrupt()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.done:
		return c.err
	case <-impatient:
		return c.end(ErrImpatient)
	case <-timer.C:
		return c.end(ErrGrace)
	}
}
