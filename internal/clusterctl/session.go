package clusterctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/ending"
	spawn "github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// Session is a cluster whose life is tied to this process: the program reads from a
// pipe that this process holds, and stops when the pipe ends, however that
// comes about.
type Session struct {
	// Server is the URL of the API server.
	Server string
	// Kubeconfig is the path of the administrator's kubeconfig; it goes with the session.
	Kubeconfig string
	// Kubernetes is the version of the API server.
	Kubernetes string
	// Socket is where other processes speak with the program, if that was asked for.
	Socket string

	process *process
	stdin   io.Closer
	folder  userdirs.Scratch
	state   state.Cluster // in folder
	grace   time.Duration
	drained chan struct{}
	release func() bool
	over    func() // in the command's end
	once    sync.Once
}

// Tie starts a cluster for this process alone, in a temporary folder, and returns once it is ready. It ends with Close,
// with ctx or with the process, whichever is first. The name is for messages only. Unless o names another kind, nodes
// are simulated: no real one joins.
func (c *Control) Tie(ctx context.Context, name string, o Options) (*Session, error) {
	o.NodeKind = cmp.Or(o.NodeKind, protocol.SimulatedNodes)
	if err := errors.Join(o.check(), clusterspec.CheckNeeds(o.Spec, o.Spec, command("start", DefaultName))); err != nil {
		return nil, err
	}
	program, err := c.Program(ctx)
	if err != nil {
		return nil, err
	}
	config, err := c.configure(ctx, o.Spec)
	if err != nil {
		return nil, err
	}
	c.sweep()
	folder, err := userdirs.ScratchIn(os.TempDir(), sessionPrefix)
	if err != nil {
		return nil, err
	}
	cl := c.session(name, folder)
	s, err := c.tie(ctx, program, folder, cl, config, o)
	if err != nil {
		err = explain(ctx, cl, err)
		_ = discard(folder, cl)
		return nil, err
	}
	return s, nil
}

// tie is Tie in a folder, with the state of cl. If the cluster does not become ready, the program is ended.
func (c *Control) tie(ctx context.Context, program string, folder userdirs.Scratch, cl state.Cluster, config protocol.Config, o Options) (*Session, error) {
	config.Name, config.Dir = cl.Name, cl.Dir
	if err := os.Mkdir(cl.Dir, 0o700); err != nil {
		return nil, err
	}
	if o.Socket {
		var err error
		if config.Socket, err = cl.PrepareSocket(); err != nil {
			return nil, err
		}
	}
	if err := cl.WriteConfig(config); err != nil {
		return nil, err
	}
	p, stdin, stdout, err := child(program, cl)
	if err != nil {
		return nil, err
	}
	over := ending.Await(ctx, "its cluster")
	s := &Session{over: over, Socket: config.Socket, process: p, stdin: stdin, folder: folder, state: cl, grace: c.stop, drained: make(chan struct{})}
	limit, cancel := context.WithTimeout(ctx, o.timeout())
	defer cancel()
	conn := protocol.NewConn(stdout, stdin, func() error { p.Kill(); return nil })
	hello, ready, err := c.await(limit, p, conn)
	go s.drain(stdout)
	if err != nil {
		s.grace = c.grace(o.Durable)
		s.end()
		return nil, err
	}
	s.Server, s.Kubeconfig, s.Kubernetes = ready.Server, ready.Kubeconfig, hello.Kubernetes
	s.release = context.AfterFunc(ctx, s.end)
	return s, nil
}

// child starts the program with pipes to speak through.
func child(program string, cl state.Cluster) (p *process, stdin io.WriteCloser, stdout io.Reader, err error) {
	log, err := os.OpenFile(cl.Log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, nil, err
	}
	defer log.Close()
	cmd, err := spawn.Command(program, "serve", "--config", cl.Config(), "--stdio")
	if err != nil {
		return nil, nil, nil, err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	defer in.Close()
	cmd.Dir = cl.Dir
	cmd.Stdout, cmd.Stderr = in, log
	if stdin, err = cmd.StdinPipe(); err != nil {
		return nil, nil, nil, err
	}
	if p, err = begin(cmd); err != nil {
		_ = out.Close()
		return nil, nil, nil, err
	}
	return p, stdin, out, nil
}

// drain reads the program's further events, so that it never blocks on them.
func (s *Session) drain(stdout io.Reader) {
	defer close(s.drained)
	_, _ = io.Copy(io.Discard, stdout)
	if c, ok := stdout.(io.Closer); ok {
		_ = c.Close()
	}
}

// Done is closed once the program has ended, by order or by a crash.
func (s *Session) Done() <-chan struct{} { return s.process.Done() }

// Close stops the cluster, by force if it does not stop in time, and removes its
// state. It reports a program that had died before.
func (s *Session) Close() error {
	s.release()
	var err error
	select {
	case <-s.process.Done():
		if died := s.process.Wait(); died != nil {
			err = fmt.Errorf("the cluster died before it was stopped: %w", died)
		}
	default:
	}
	s.end()
	return err
}

// end stops the program and removes the session's folder.
func (s *Session) end() {
	s.once.Do(func() {
		_ = s.stdin.Close()
		_ = s.process.Expire(s.grace)
		<-s.drained
		_ = discard(s.folder, s.state)
		s.over()
	})
}
