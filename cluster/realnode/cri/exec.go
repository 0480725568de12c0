package cri

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	remote "k8s.io/cri-client/pkg"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// enter runs a process in a container until it or ctx ends.
func (r *Runtime) enter(ctx context.Context, id string, e Entering) error {
	_, run, err := r.running(id)
	if err != nil {
		return err
	}
	return exitOf(run.Enter(ctx, e))
}

// ExecSync runs a command in a container and returns its output, at most maxOutput of each stream.
func (r *Runtime) ExecSync(ctx context.Context, id string, command []string, timeout time.Duration) (stdout, stderr []byte, err error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	var out, errs Head
	err = r.enter(ctx, id, Entering{Args: command, Stdout: &out, Stderr: &errs})
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %q", remote.ErrCommandTimedOut, command) // the kubelet recognizes a probe's timeout by this error
	}
	return out.Bytes(), errs.Bytes(), err
}

// maxOutput bounds the kept output of a probe or hook, in bytes for each stream. The kubelet uses 10 KiB, and
// containerd keeps 16 MiB. A node can run hundreds of probes at a time.
const maxOutput = 1 << 20

// Head keeps the first megabyte of what is written to it. It discards the rest without an error, so that the command
// can finish. The zero value is ready to use.
type Head struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write never fails.
func (h *Head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buffer.Write(p[:min(len(p), maxOutput-h.buffer.Len())])
	return len(p), nil
}

// Bytes returns a copy of the kept bytes.
func (h *Head) Bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.buffer.Bytes())
}

// FollowSize sets a terminal to each size that arrives, until the channel is closed.
func FollowSize(terminal *os.File, sizes <-chan remotecommand.TerminalSize) {
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

// exitOf converts an exit status to the kubelet's error type, unless it is joined with an error that says more.
func exitOf(err error) error {
	if e, ok := err.(*exec.ExitError); ok { //nolint:errorlint // a status that is joined with a failure is not only a status
		return &utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", e.ExitCode()), Code: e.ExitCode()}
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}
