// Package session runs the cluster program as a child of this process.
//
// The program reads from a pipe that this process holds, and stops when the
// pipe ends: however this process ends, it never outlives it by more than the
// moment it takes to stop. Its state is a temporary folder, which [Session.Close]
// removes; what a killed process leaves, the next [Start] sweeps.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/process"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/protocol"
)

// Session is a running program.
type Session struct {
	*protocol.Conn
	// Dir is the session's folder.
	Dir string

	folder folder
	cmd    *exec.Cmd
	stdin  io.Closer
	exited chan struct{} // closed once the program is gone; err is set by then
	err    error
	once   sync.Once
}

// grace is how long the program may take to stop before it is killed. It needs a few
// hundred milliseconds, and a busy machine several times that.
const grace = 10 * time.Second

// Start starts the program in a new folder and returns once its cluster is ready.
func Start(ctx context.Context, program string, f protocol.Spec) (*Session, protocol.Cluster, error) {
	own, err := newFolder()
	if err != nil {
		return nil, protocol.Cluster{}, err
	}
	s := &Session{Dir: own.path, folder: own, exited: make(chan struct{})}
	if err := s.begin(program, protocol.Config{Protocol: protocol.Number, Name: "test", Dir: s.Dir, Spec: f}); err != nil {
		_ = s.folder.remove()
		return nil, protocol.Cluster{}, err
	}
	cluster, err := s.Ready(ctx)
	if err != nil {
		_ = s.cmd.Process.Kill() // there are no data to save
		err = s.explain(program, err)
		s.end()
		return nil, cluster, err
	}
	return s, cluster, nil
}

// begin starts the program with pipes to speak through.
func (s *Session) begin(program string, c protocol.Config) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	file := filepath.Join(s.Dir, "config.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if s.cmd, err = process.Command(context.Background(), program, "serve", "--config", file, "--stdio"); err != nil {
		return err
	}
	s.cmd.Dir, s.cmd.Stderr = s.Dir, log
	detach(s.cmd)
	return s.launch(program)
}

// launch is the part of begin that starts goroutines: they end with the program.
func (s *Session) launch(program string) error {
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return err
	}
	events, stdout, err := os.Pipe() // unlike a StdoutPipe it may be read after Wait
	if err != nil {
		return err
	}
	defer stdout.Close()
	s.stdin, s.cmd.Stdout = stdin, stdout
	if err := s.cmd.Start(); err != nil {
		_ = events.Close()
		return &fault.Error{What: "the cluster program cannot be started", Where: program, Err: err,
			Hint: "use a slipway-cluster program for this system", Next: "slipway cluster build"}
	}
	s.Conn = protocol.NewConn(events, stdin)
	go func() {
		s.err = s.cmd.Wait()
		close(s.exited)
		<-s.Ended()
		_ = events.Close()
	}()
	return nil
}

func (s *Session) log() string { return filepath.Join(s.Dir, "log") }

// Close stops the program, by force if need be, and removes its folder. It
// reports a program that had died before.
func (s *Session) Close() error {
	err := s.Died()
	s.end()
	return err
}

// Died reports why the program is gone, and is nil while it runs. It is of no meaning after Close.
func (s *Session) Died() error {
	select {
	case <-s.Ended():
		if !s.ends() {
			return nil
		}
	case <-s.exited:
	default:
		return nil
	}
	return s.explain(s.cmd.Path, protocol.ErrEnded)
}

// ends waits for the end of a program that nothing more is heard of: its files are closed a moment before it can be
// waited for.
func (s *Session) ends() bool {
	select {
	case <-s.exited:
		return true
	case <-time.After(grace):
		return false
	}
}

// end stops the program and removes the session's folder.
func (s *Session) end() {
	s.once.Do(func() {
		_ = s.stdin.Close()
		timer := time.AfterFunc(grace, func() { _ = s.cmd.Process.Kill() })
		<-s.exited
		timer.Stop()
		_ = s.folder.remove()
	})
}

// explain makes a cluster that failed something its user understands.
func (s *Session) explain(program string, err error) error {
	e := &fault.Error{What: "the cluster did not start", Where: program, Err: err, Hint: s.lastLines()}
	failed, isFailed := errors.AsType[*protocol.Failed](err)
	_, foreign := errors.AsType[*protocol.Mismatch](err)
	switch {
	case isFailed:
		e.Hint = failed.Hint
	case foreign:
		e.Hint = "use slipway and github.com/slipway-dev/slipway/operator of the same version"
		e.Next = "go get github.com/slipway-dev/slipway/operator@VERSION, with the version that `slipway version` prints"
	case errors.Is(err, context.DeadlineExceeded):
		e.Err = errors.New("it was not ready in time")
	case errors.Is(err, protocol.ErrEnded):
		<-s.exited
		e.What, e.Err = "the cluster has ended", err
		if s.err != nil {
			e.Err = fmt.Errorf("%w: %w", err, s.err)
		}
	}
	return e
}

const (
	// logTail bounds how much of the end of a log is looked at.
	logTail = 16 << 10
	// logLines is how many of its lines are shown.
	logLines = 8
)

// lastLines returns what the program said last.
func (s *Session) lastLines() string {
	text, err := os.ReadFile(s.log())
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text[max(0, len(text)-logTail):])), "\n")
	return strings.Join(lines[max(0, len(lines)-logLines):], "\n")
}
