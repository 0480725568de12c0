package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// speakOnStdio ties the cluster's life to stdin. Clients hear of the end of life, too.
func (s *session) speakOnStdio(life context.Context) {
	if !s.Stdio {
		return
	}
	go func() {
		defer close(s.flushed)
		ended := func() { s.stop(stopReason(protocol.ByStdin)) }
		methods, _ := s.connect(life)                                                             // the cluster ends with it
		_ = protocol.Serve(context.WithoutCancel(life), s.Stdin, s.Stdout, s.log, methods, ended) // without a reader stdin ends soon
	}()
}

// listen speaks on the socket, if there is to be one. An old file is removed:
// whoever holds the lock on the state folder knows that nobody listens there.
func (s *session) listen(life context.Context) error {
	if s.config.Socket == "" {
		return nil
	}
	if err := os.Remove(s.config.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: remove the old socket: %w", errState, err)
	}
	listener, err := net.Listen("unix", s.config.Socket)
	if err != nil {
		return fmt.Errorf("%w: listen on the socket: %w", errState, err)
	}
	if err := os.Chmod(s.config.Socket, 0o600); err != nil {
		return errors.Join(fmt.Errorf("%w: %w", errState, err), listener.Close())
	}
	s.socket, s.clients = listener, protocol.NewListener(s.log, func() (func(protocol.Send) protocol.Methods, func()) { return s.connect(life) })
	go s.clients.Accept(context.WithoutCancel(life), listener, func(err error) {
		fmt.Fprintln(s.Stderr, "slipway-cluster: more clients of the socket must wait:", err)
	})
	return nil
}

// waitTold lets everybody who is connected read the last events, for a while.
func (s *session) waitTold() {
	ctx, cancel := context.WithTimeout(context.Background(), tellGrace)
	defer cancel()
	if s.socket != nil {
		_ = s.socket.Close() // removes the file; clients stay connected
		s.clients.Wait(ctx)
	}
	if !s.Stdio {
		return
	}
	select {
	case <-s.flushed:
	case <-ctx.Done():
	}
}
