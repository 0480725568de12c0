package clusterctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os/exec"
	"path/filepath"
	"time"

	spawn "github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// process is a program that this process started. It is waited for in the background for as long as it takes: so a
// child that outlives its purpose leaves no zombie.
type process struct{ *spawn.Child }

// begin starts cmd so that it outlives this process.
func begin(cmd *exec.Cmd) (*process, error) {
	child, err := spawn.StartDetached(cmd)
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		return nil, &report.Error{What: "the cluster program cannot be started", Where: cmd.Path, Err: err}
	}
	return &process{child}, nil
}

// errExited is why a cluster did not become ready whose program ended.
var errExited = errors.New("the program ended")

// exit describes how the process ended.
func (p *process) exit() error {
	if err := p.Wait(); err != nil {
		return fmt.Errorf("%w: %w", errExited, err)
	}
	return errExited
}

// dialPoll is how often a socket that does not exist yet is tried.
const dialPoll = 5 * time.Millisecond

// dial connects to the socket that the process is about to serve.
func (p *process) dial(ctx context.Context, socket string) (*protocol.Conn, error) {
	tick := time.NewTicker(dialPoll)
	defer tick.Stop()
	for {
		conn, err := protocol.Dial(ctx, socket)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.Done():
			return nil, p.exit()
		case <-tick.C:
		}
	}
}

// failed is a failure that the program told by its own event.
type failed struct{ event protocol.Event }

func (f *failed) Error() string { return f.event.Error }

// otherProtocol is the number of the protocol of a program that is not understood.
type otherProtocol int

func (n otherProtocol) Error() string {
	return fmt.Sprintf("it uses protocol %d, this slipway uses %d", int(n), protocol.Number)
}

// follow reads a program's events until the cluster is ready, and tells them.
func (c *Control) follow(conn *protocol.Conn) (hello, ready protocol.Event, err error) {
	for {
		e, err := conn.Read()
		if err != nil {
			return hello, ready, err
		}
		switch e.Name {
		case protocol.EventHello:
			if e.Protocol != protocol.Number {
				return hello, ready, otherProtocol(e.Protocol)
			}
			hello = e
		case protocol.EventProgress:
			c.tell(e, time.Duration(e.ElapsedMs)*time.Millisecond)
		case protocol.EventNote:
			c.handler.Handle(report.Note{Text: e.Text})
		case protocol.EventFailed:
			return hello, ready, &failed{e}
		case protocol.EventStopped:
			return hello, ready, io.EOF
		case protocol.EventReady:
			return hello, e, nil
		}
	}
}

// tell passes on what a component is doing, elapsed after the work began.
func (c *Control) tell(e protocol.Event, elapsed time.Duration) {
	switch e.State {
	case protocol.StateStarting, protocol.StateStopping:
		c.handler.Handle(report.Step{Name: string(e.State) + " " + e.Component})
	case protocol.StateReady, protocol.StateStopped:
		c.handler.Handle(report.Step{Name: e.Component + " " + string(e.State), Elapsed: elapsed})
	}
}

// await waits until a program that was just started is ready.
func (c *Control) await(ctx context.Context, p *process, conn *protocol.Conn) (hello, ready protocol.Event, err error) {
	defer conn.Until(ctx)()
	hello, ready, err = c.follow(conn)
	switch {
	case err == nil:
		return hello, ready, nil
	case ctx.Err() != nil:
		return hello, ready, ctx.Err()
	case errors.Is(err, io.EOF), broken(err):
		return hello, ready, p.gone()
	}
	return hello, ready, err
}

// broken tells whether the connection broke: a program that dies resets it.
func broken(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

// endLimit is how long a process may take to end after its connection: a moment, and more on a busy machine.
const endLimit = 5 * time.Second

// gone is the error of a process that ended its connection: most likely it is ending.
func (p *process) gone() error {
	select {
	case <-p.Done():
		return p.exit()
	case <-time.After(endLimit):
		return fmt.Errorf("it ended the connection: %w", io.ErrUnexpectedEOF)
	}
}

func dirOf(path string) string { return filepath.Dir(path) }
