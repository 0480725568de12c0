// Package kubeletapi answers for the kubelets of simulated nodes.
//
// The API server asks a kubelet for a pod's logs and passes `kubectl exec`, `attach` and `port-forward` on to it. A
// simulated node runs no process, and its kubelet says so at once, in words that kubectl prints. It listens nowhere:
// the API server, in the same process, connects with [Server.Dial].
//
//	kubelets := kubeletapi.New(ctx, certFile, keyFile)
//	conn, err := kubelets.Dial(ctx)
//
// One server plays all nodes' kubelets. Its paths are those of k8s.io/kubernetes/pkg/kubelet/server.
package kubeletapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"

	"google.golang.org/grpc/test/bufconn"
	"k8s.io/klog/v2"
)

// bufferSize is that of a connection, in bytes; few of them are ever open.
const bufferSize = 16 << 10

// Server plays kubelets.
type Server struct {
	listener *bufconn.Listener
	start    func() error
}

// New returns a server that starts with the first connection and ends with ctx. The files hold its certificate and key.
func New(ctx context.Context, certFile, keyFile string) *Server {
	s := &Server{listener: bufconn.Listen(bufferSize)}
	s.start = sync.OnceValue(func() error { return s.serve(ctx, certFile, keyFile) })
	return s
}

// Dial connects to a kubelet, which speaks HTTP over TLS.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	if err := s.start(); err != nil {
		return nil, err
	}
	return s.listener.DialContext(ctx)
}

func (s *Server) serve(ctx context.Context, certFile, keyFile string) error {
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return fmt.Errorf("the simulated kubelets' certificate: %w", err)
	}
	server := &http.Server{Handler: handler(), ErrorLog: log.New(errorLog{}, "", 0)}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() {
		// It ends when the server is closed, which is no error.
		_ = server.Serve(tls.NewListener(s.listener, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}))
	}()
	return nil
}

// errorLog keeps clients that hang up out of the log unless somebody wants to see much.
type errorLog struct{}

func (errorLog) Write(p []byte) (int, error) {
	klog.V(4).InfoS("Simulated kubelet", "message", string(p))
	return len(p), nil
}
