package certmanager

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// through waits until check, which is told an address on this machine, finds nothing wrong with what answers at a port
// of a pod or Service. kubectl gives up when nobody answers there for a moment: then another one is asked.
func (c *cluster) through(t *testing.T, what, namespace, to string, port int, check func(ctx context.Context, address string) error) {
	t.Helper()
	var f *forwarding
	defer func() { f.stop() }()
	eventually(t, what, func(ctx context.Context) (err error) {
		if f.over() {
			f.stop()
			if f, err = c.forward(ctx, t, namespace, to, port); err != nil {
				return err
			}
		}
		return check(ctx, f.address)
	})
}

// forwarding is a kubectl that leads a port of this machine elsewhere.
type forwarding struct {
	address string
	kubectl *exec.Cmd
	ended   chan struct{}
}

// endLimit is how long it may take to end.
const endLimit = 10 * time.Second

// forwardingFrom is what kubectl says of it.
var forwardingFrom = regexp.MustCompile(`^Forwarding from (127\.0\.0\.1:\d+) -> (\d+)`)

// forward leads a port of this machine to one of a pod or Service. It goes on when ctx, in which it is to begin, has
// ended.
func (c *cluster) forward(ctx context.Context, t *testing.T, namespace, to string, port int) (*forwarding, error) {
	t.Helper()
	f := &forwarding{ended: make(chan struct{})}
	f.kubectl = command(t, ".", c.env, c.slipway, "kubectl", "-n", namespace, "port-forward", to, fmt.Sprintf(":%d", port))
	var stderr strings.Builder
	f.kubectl.Stderr = &stderr
	f.kubectl.Cancel = func() error { return f.kubectl.Process.Signal(syscall.SIGTERM) }
	f.kubectl.WaitDelay = endLimit
	out, err := f.kubectl.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := f.kubectl.Start(); err != nil {
		return nil, err
	}
	address := make(chan string, 1)
	go func() {
		defer close(f.ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if found := forwardingFrom.FindStringSubmatch(lines.Text()); found != nil && len(address) == 0 {
				address <- found[1]
			}
		}
		_, _ = io.Copy(io.Discard, out)
		_ = f.kubectl.Wait()
	}()
	select {
	case f.address = <-address:
		return f, nil
	case <-f.ended:
		return nil, fmt.Errorf("port-forward to %s: %s: %s", to, f.kubectl.ProcessState, stderr.String())
	case <-ctx.Done():
		f.stop()
		return nil, ctx.Err()
	}
}

// over says whether it has ended, or never begun.
func (f *forwarding) over() bool {
	if f == nil {
		return true
	}
	select {
	case <-f.ended:
		return true
	default:
		return false
	}
}

func (f *forwarding) stop() {
	if f == nil {
		return
	}
	_ = f.kubectl.Process.Signal(syscall.SIGTERM)
	select {
	case <-f.ended:
	case <-time.After(endLimit):
		_ = f.kubectl.Process.Kill()
		<-f.ended
	}
}
