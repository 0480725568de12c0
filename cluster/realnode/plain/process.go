package plain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/keeper"
)

// outputGrace bounds the wait for output after the process ended: processes that left its group may hold the pipes.
const outputGrace = time.Second

// keptProcess is a process with its keeper.
type keptProcess struct {
	cmd    *exec.Cmd
	orders *os.File
	turn   sync.Mutex // serializes writes to orders
}

// keep starts a keeper, and returns when its process runs or could not start. cmd has the process's streams.
func (s *Starter) keep(cmd *exec.Cmd, p keeper.Process) (*keptProcess, error) {
	theirs, orders, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the process: %w", err)
	}
	defer theirs.Close()
	failure, status, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the process: %w", err), orders.Close())
	}
	defer failure.Close()
	cmd.Path, cmd.Args, cmd.Env, cmd.Dir = s.options.Program, []string{"slipway-container", keeper.Part}, []string{"GOMAXPROCS=1"}, "/"
	cmd.ExtraFiles = []*os.File{theirs, status, s.options.Presence}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signals of slipway's terminal
	err = cmd.Start()
	_ = status.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the process: %w", err), orders.Close())
	}
	k := &keptProcess{cmd: cmd, orders: orders}
	if err := k.begin(p, failure); err != nil {
		return nil, errors.Join(err, orders.Close())
	}
	return k, nil
}

func (k *keptProcess) begin(p keeper.Process, failure *os.File) error {
	if err := json.NewEncoder(k.orders).Encode(p); err != nil {
		_ = k.cmd.Wait()
		return fmt.Errorf("start the process: %w", err)
	}
	text, err := io.ReadAll(failure)
	if err != nil || len(text) > 0 {
		_ = k.cmd.Wait()
		return errors.Join(errors.New(string(text)), err)
	}
	return nil
}

// signal orders a signal. It does nothing after the process's end.
func (k *keptProcess) signal(s syscall.Signal) {
	k.turn.Lock()
	defer k.turn.Unlock()
	_, _ = fmt.Fprintf(k.orders, "%d\n", int(s))
}

// wait waits until the process and its descendants have ended.
func (k *keptProcess) wait() error {
	err := k.cmd.Wait()
	k.turn.Lock()
	defer k.turn.Unlock()
	_ = k.orders.Close()
	return err
}

type process struct {
	*keptProcess
	workload *workload
	streams  cri.Streams
	ended    chan struct{}
}

// Start starts the container's program.
func (w *workload) Start() (cri.Process, error) {
	p := &process{workload: w, ended: make(chan struct{})}
	cmd := &exec.Cmd{}
	theirs, err := p.open(cmd)
	if err == nil {
		p.keptProcess, err = w.starter.keep(cmd, w.first)
	}
	closeAll(theirs)
	if err != nil {
		p.closeStreams()
		return nil, err
	}
	return p, nil
}

// open makes the process's streams, and returns the process's ends. The caller must close them.
func (p *process) open(cmd *exec.Cmd) (theirs []*os.File, err error) {
	if p.workload.terminal {
		ours, their, err := openTerminal()
		if err != nil {
			return nil, err
		}
		p.workload.first.Terminal, p.streams.Terminal = true, ours
		cmd.Stdin, cmd.Stdout, cmd.Stderr = their, their, their
		return []*os.File{their}, nil
	}
	pipe := func() (r, w *os.File) {
		var problem error
		if r, w, problem = os.Pipe(); problem != nil {
			err = fmt.Errorf("make a pipe: %w", problem)
		}
		return r, w
	}
	var out, errs, in *os.File
	p.streams.Stdout, out = pipe()
	p.streams.Stderr, errs = pipe()
	cmd.Stdout, cmd.Stderr = out, errs
	if p.workload.stdin {
		var ours *os.File
		in, ours = pipe()
		cmd.Stdin, p.streams.Stdin = in, ours
	}
	return []*os.File{out, errs, in}, err
}

func (p *process) closeStreams() {
	s := p.streams
	closeAll([]*os.File{s.Terminal, s.Stdout, s.Stderr})
	if s.Stdin != nil {
		_ = s.Stdin.Close()
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// Streams returns the runtime's ends of the process's streams.
func (p *process) Streams() cri.Streams { return p.streams }

// Signal sends the process a signal.
func (p *process) Signal(s syscall.Signal) { p.signal(s) }

// Wait waits for the container's end and returns the exit status. Then it bounds the reading of output: outside Linux a
// descendant can escape its keeper and hold the pipes open.
func (p *process) Wait() int {
	_ = p.wait()
	close(p.ended)
	for _, f := range []*os.File{p.streams.Terminal, p.streams.Stdout, p.streams.Stderr} {
		if f != nil {
			_ = f.SetReadDeadline(time.Now().Add(outputGrace))
		}
	}
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return killedStatus + int(status.Signal())
	}
	return status.ExitStatus()
}

// killedStatus plus a signal's number is the status of a process that the signal ended, as in a shell.
const killedStatus = 128

// Enter runs another process with the container's environment and folder, until it, the container or ctx ends.
func (p *process) Enter(ctx context.Context, e cri.Entering) error {
	described, err := p.workload.describe(e.Args)
	if err != nil {
		return err
	}
	described.Env, described.Terminal = e.Environment(described.Env), e.Terminal
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // the process ends with the container
		select {
		case <-p.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	if e.Terminal {
		return p.enterTerminal(ctx, described, e)
	}
	return p.enterPiped(ctx, described, e)
}

func (p *process) enterPiped(ctx context.Context, described keeper.Process, e cri.Entering) error {
	cmd := &exec.Cmd{Stdout: e.Stdout, Stderr: e.Stderr, WaitDelay: outputGrace}
	if e.Stdin != nil {
		in, ours, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("make a pipe: %w", err)
		}
		defer in.Close()
		cmd.Stdin = in
		go func() { // can outlast the process while a client sends nothing
			_, _ = io.Copy(ours, e.Stdin)
			_ = ours.Close()
		}()
	}
	return p.finish(ctx, cmd, described)
}

// finish runs the process until it or ctx ends.
func (p *process) finish(ctx context.Context, cmd *exec.Cmd, described keeper.Process) error {
	k, err := p.workload.starter.keep(cmd, described)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { k.signal(syscall.SIGKILL) })
	defer stop()
	return k.wait()
}

func (p *process) enterTerminal(ctx context.Context, described keeper.Process, e cri.Entering) error {
	terminal, their, err := openTerminal()
	if err != nil {
		return err
	}
	defer terminal.Close()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		_, _ = io.Copy(e.Stdout, terminal) // fails when no process has the terminal open
	}()
	go cri.FollowSize(terminal, e.Resize)
	if e.Stdin != nil {
		go func() { _, _ = io.Copy(terminal, e.Stdin) }()
	}
	err = p.finish(ctx, &exec.Cmd{Stdin: their, Stdout: their, Stderr: their}, described)
	_ = their.Close()
	_ = terminal.SetReadDeadline(time.Now().Add(outputGrace))
	<-shown
	return err
}
