package cri

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/slipway-dev/slipway/cluster/realnode/inside"
)

// entering is a process that is started in a container which runs.
type entering struct {
	args     []string
	stdin    io.Reader // nil for none
	out, err io.Writer
	terminal bool
	resize   <-chan remotecommand.TerminalSize
}

// outputGrace is how long output is waited for that a process has left behind with others.
const outputGrace = time.Second

// enter runs a process in a container until it ends or ctx does.
func (r *Runtime) enter(ctx context.Context, id string, e entering) error {
	c, run, err := r.running(id)
	if err != nil {
		return err
	}
	process := c.spec.Process
	process.Args, process.Terminal = e.args, e.terminal
	description, theirs, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer description.Close()
	cmd := exec.CommandContext(ctx, r.options.Inside)
	cmd.Args = []string{"slipway-container", inside.PartEnter}
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.Dir = "/"
	cmd.WaitDelay = outputGrace
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	go func() {
		_ = json.NewEncoder(theirs).Encode(process) // if it is not read, the process has ended
		_ = theirs.Close()
	}()
	if e.terminal {
		return r.enterTerminal(cmd, description, run.first, e)
	}
	return r.enterPlain(cmd, description, run.first, e)
}

// enterPlain joins the process to the streams by pipes.
func (r *Runtime) enterPlain(cmd *exec.Cmd, description, first *os.File, e entering) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	cmd.Stdout, cmd.Stderr = e.out, e.err
	cmd.ExtraFiles = []*os.File{description, null, first}
	if e.stdin != nil {
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() { // which may wait for a client long after the process has ended
			_, _ = io.Copy(in, e.stdin)
			_ = in.Close()
		}()
	}
	if err := r.starter.start(cmd, nil); err != nil {
		return fmt.Errorf("enter the container: %w", err)
	}
	return exitOf(cmd.Wait())
}

// enterTerminal gives the process a terminal and joins that to the streams.
func (r *Runtime) enterTerminal(cmd *exec.Cmd, description, first *os.File, e entering) error {
	pair, err := socketPair()
	if err != nil {
		return err
	}
	defer closeFiles(pair[0], pair[1])
	var failure bytes.Buffer
	cmd.Stderr = &failure // until it has the terminal
	cmd.ExtraFiles = []*os.File{description, pair[1], first}
	if err := r.starter.start(cmd, nil); err != nil {
		return fmt.Errorf("enter the container: %w", err)
	}
	closeFiles(pair[1])
	terminal, err := receiveTerminal(pair[0])
	if err != nil {
		return errors.Join(errors.New(failure.String()), exitOf(cmd.Wait()))
	}
	defer terminal.Close()
	go followSize(terminal, e.resize)
	if e.stdin != nil {
		go func() { _, _ = io.Copy(terminal, e.stdin) }()
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		_, _ = io.Copy(e.out, terminal) // ends with an error when nobody has the terminal any more
	}()
	err = cmd.Wait()
	select {
	case <-shown:
	case <-time.After(outputGrace):
	}
	return exitOf(err)
}

func followSize(terminal *os.File, sizes <-chan remotecommand.TerminalSize) {
	raw, err := terminal.SyscallConn()
	if err != nil {
		return
	}
	for size := range sizes {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Height, Col: size.Width})
		})
	}
}

// exitOf makes an exit status known to the kubelet.
func exitOf(err error) error {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return &utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", e.ExitCode()), Code: e.ExitCode()}
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

// ExecSync runs a command in a container and returns what it wrote.
func (r *Runtime) ExecSync(ctx context.Context, id string, command []string, timeout time.Duration) (stdout, stderr []byte, err error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	var out, errs bytes.Buffer
	err = r.enter(ctx, id, entering{args: command, out: &out, err: &errs})
	if ctx.Err() != nil {
		err = status.Errorf(codes.DeadlineExceeded, "command %q timed out", command)
	}
	return out.Bytes(), errs.Bytes(), err
}
