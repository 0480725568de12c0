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

// enter runs a process in a container until it ends or ctx does.
func (r *Runtime) enter(ctx context.Context, id string, e Entering) error {
	_, run, err := r.running(id)
	if err != nil {
		return err
	}
	return exitOf(run.Enter(ctx, e))
}

// ExecSync runs a command in a container and returns what it wrote.
func (r *Runtime) ExecSync(ctx context.Context, id string, command []string, timeout time.Duration) (stdout, stderr []byte, err error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	var out, errs Head
	err = r.enter(ctx, id, Entering{Args: command, Stdout: &out, Stderr: &errs})
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %q", remote.ErrCommandTimedOut, command) // by which the kubelet knows that a probe has failed
	}
	return out.Bytes(), errs.Bytes(), err
}

// maxOutput is how many bytes of each stream are kept of a command without a client, which is for probes and hooks, of
// which the kubelet takes 10 KiB; other runtimes keep up to 16 MiB, and a node has hundreds of probes at a time.
const maxOutput = 1 << 20

// Head keeps the beginning of what is written to it. The rest is taken all the same, so that the command ends as it
// would anywhere.
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

// Bytes are what it has kept, the first megabyte at most.
func (h *Head) Bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.buffer.Bytes())
}

// FollowSize gives a terminal the sizes that come.
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

// exitOf makes an exit status known to the kubelet, unless it comes with a failure that says more.
func exitOf(err error) error {
	if e, ok := err.(*exec.ExitError); ok { //nolint:errorlint // a status that is joined with a failure is not only a status
		return &utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", e.ExitCode()), Code: e.ExitCode()}
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}
