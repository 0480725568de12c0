package cri

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/slipway-dev/slipway/cluster/realnode/handover"
)

// streams is what the server of streams calls.
type streams struct{ *Runtime }

func serve(listener net.Listener, handler http.Handler) {
	_ = (&http.Server{Handler: handler}).Serve(listener) // until the node ends
}

// Exec prepares a command whose streams the kubelet joins to a client's.
func (r *Runtime) Exec(_ context.Context, q *runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	if _, _, err := r.running(q.GetContainerId()); err != nil {
		return nil, err
	}
	return r.stream.GetExec(q)
}

// Attach prepares joining a client's streams to a container's.
func (r *Runtime) Attach(_ context.Context, q *runtimeapi.AttachRequest) (*runtimeapi.AttachResponse, error) {
	if _, _, err := r.running(q.GetContainerId()); err != nil {
		return nil, err
	}
	return r.stream.GetAttach(q)
}

// PortForward prepares connections to a pod.
func (r *Runtime) PortForward(_ context.Context, q *runtimeapi.PortForwardRequest) (*runtimeapi.PortForwardResponse, error) {
	if _, err := r.sandbox(q.GetPodSandboxId()); err != nil {
		return nil, err
	}
	return r.stream.GetPortForward(q)
}

// Exec runs a command with a client's streams.
func (s streams) Exec(ctx context.Context, id string, command []string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	e := entering{args: command, stdin: in, terminal: tty, resize: resize}
	if out != nil {
		e.out = out
	}
	if errs != nil {
		e.err = errs
	}
	return s.enter(ctx, id, e)
}

// PortForward connects a client to a port of a pod, on the pod's own loopback as elsewhere.
func (s streams) PortForward(ctx context.Context, id string, port int32, stream io.ReadWriteCloser) error {
	sandbox, err := s.sandbox(id)
	if err != nil {
		return err
	}
	defer stream.Close()
	conn, err := s.dialIn(ctx, sandbox, int(port))
	if err != nil {
		return fmt.Errorf("connect to port %d of the pod: %w", port, err)
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(conn, stream)
		if c, ok := conn.(*net.TCPConn); ok {
			_ = c.CloseWrite()
		}
	}()
	_, err = io.Copy(stream, conn)
	return err
}

// dialIn connects within a sandbox's network: the socket is made there, and connected from here.
func (r *Runtime) dialIn(ctx context.Context, s *sandbox, port int) (net.Conn, error) {
	fd := -1
	var network *os.File
	if s.network != nil {
		network = s.network.Namespace
	}
	err := r.starter.within(network, func() (err error) {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: port}); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		_ = unix.Close(fd)
		return nil, err
	}
	return handover.Connected(ctx, fd)
}
