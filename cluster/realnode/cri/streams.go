package cri

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// streams implements the callbacks of the streaming server.
type streams struct{ *Runtime }

func serve(listener net.Listener, handler http.Handler) {
	_ = (&http.Server{Handler: handler}).Serve(listener) // until the node ends
}

// Exec returns the URL at which the kubelet connects a client to a command.
func (r *Runtime) Exec(_ context.Context, q *runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	if _, _, err := r.running(q.GetContainerId()); err != nil {
		return nil, err
	}
	return r.stream.GetExec(q)
}

// Attach returns the URL at which the kubelet connects a client to a container's streams.
func (r *Runtime) Attach(_ context.Context, q *runtimeapi.AttachRequest) (*runtimeapi.AttachResponse, error) {
	if _, _, err := r.running(q.GetContainerId()); err != nil {
		return nil, err
	}
	return r.stream.GetAttach(q)
}

// PortForward returns the URL at which the kubelet connects a client to ports of a pod.
func (r *Runtime) PortForward(_ context.Context, q *runtimeapi.PortForwardRequest) (*runtimeapi.PortForwardResponse, error) {
	if _, err := r.sandbox(q.GetPodSandboxId()); err != nil {
		return nil, err
	}
	return r.stream.GetPortForward(q)
}

// Exec runs a command with a client's streams.
func (s streams) Exec(ctx context.Context, id string, command []string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	e := Entering{Args: command, Stdin: in, Terminal: tty, Resize: resize}
	if out != nil {
		e.Stdout = out
	}
	if errs != nil {
		e.Stderr = errs
	}
	return s.enter(ctx, id, e)
}

// PortForward connects a client to a port on the pod's loopback, as other runtimes do.
func (s streams) PortForward(ctx context.Context, id string, port int32, stream io.ReadWriteCloser) error {
	sandbox, err := s.sandbox(id)
	if err != nil {
		return err
	}
	defer stream.Close()
	conn, err := s.options.Starter.Dial(ctx, sandbox.network, int(port))
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
