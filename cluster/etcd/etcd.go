// Package etcd runs etcd inside this process, for one API server on the same machine.
//
// The settings fit a single member on loopback: short ticks, so that it elects
// itself within milliseconds, and small write-ahead-log segments, because etcd
// preallocates them. A throw-away server never calls fsync; a durable one does, so that
// every write that was acknowledged survives a crash.
//
// It does not listen on any port: any program that could connect would read and write past the
// API server's authorization. Clients are in this process. The API server's connects with
// [Server.Dial] and speaks gRPC over memory; [Server.Apply] and [Server.Read] call the
// store directly. That is how the seed gets in, and what snapshot, reset and a
// journal of writes build on.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/test/bufconn"
)

const (
	tickMs     = 25 // heartbeat: each one wakes the idle process, and a start waits for one to five of them
	electionMs = 125
	// walSegment replaces 64 MiB, of which etcd preallocates two.
	walSegment = 4 << 20
	// snapshotCount keeps snapshots out of the short lives that test clusters have.
	snapshotCount = 100_000
	// catchUpEntries of the log are kept in memory for members that lag behind. There are none, and upstream's
	// 5,000 can be many megabytes.
	catchUpEntries = 100
	// bufferSize is per connection and direction; the API server has about a hundred connections.
	bufferSize = 32 << 10
)

// Config says where the data lives and how safe it must be.
type Config struct {
	Dir     string       // data folder; made when absent
	Log     *slog.Logger // gets etcd's own warnings and errors
	Durable bool         // fsync every write
	// Fatal is called when etcd cannot go on, for example because the disk is full. The
	// store no longer answers; the process should end. nil does nothing.
	Fatal func(error)
}

// Server is a running etcd.
type Server struct {
	etcd     *embed.Etcd
	listener *bufconn.Listener
	grpc     *grpc.Server // answers those who dial
	calls    *calls       // those of this package's methods
}

// Start runs etcd and returns when it can serve, or when ctx ends. A start that failed because of the data may leave
// goroutines that wait for ever: the process should end.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	wal.SegmentSizeBytes = walSegment
	if err := check(cfg.Dir); err != nil {
		return nil, damaged(cfg, err)
	}
	end := newGiveUp(cfg.Fatal)
	e, err := startEmbedded(cfg, end)
	if err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	s := newServer(e)
	select {
	case <-e.Server.ReadyNotify():
		if err := end.start(); err != nil {
			return nil, damaged(cfg, err)
		}
		s.serve()
		return s, nil
	case err := <-end.starting:
		return nil, damaged(cfg, err)
	case err := <-e.Err():
		s.Stop()
		return nil, fmt.Errorf("etcd ended while it started: %w", err)
	case <-ctx.Done():
		s.Stop()
		return nil, fmt.Errorf("wait for etcd: %w", context.Cause(ctx))
	}
}

// ErrData says that etcd cannot go on with the data that there are.
var ErrData = errors.New("the data cannot be used")

func damaged(cfg Config, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrData, filepath.Clean(cfg.Dir), err)
}

// startEmbedded turns the ways in which etcd answers to damaged data into an error: a panic, and the end of a
// goroutine that has logged why. It quotes what etcd logged before a panic, which often is no more
// than a consequence.
func startEmbedded(cfg Config, end *giveUp) (*embed.Etcd, error) {
	c := embedConfig(cfg)
	last := logTo(c, cfg.Log, end)
	var e *embed.Etcd
	returned := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				why := last.get()
				if why == nil {
					why = fmt.Errorf("it panicked: %v", r)
				}
				returned <- damaged(cfg, why)
			}
		}()
		var err error
		e, err = embed.StartEtcd(c)
		returned <- err
	}()
	select {
	case err := <-returned:
		return e, err
	case err := <-end.starting:
		return nil, damaged(cfg, err)
	}
}

func embedConfig(cfg Config) *embed.Config {
	nowhere := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c := embed.NewConfig()
	c.Dir = filepath.Clean(cfg.Dir)
	c.UnsafeNoFsync = !cfg.Durable
	c.TickMs, c.ElectionMs = tickMs, electionMs
	c.SnapshotCount, c.SnapshotCatchUpEntries = snapshotCount, catchUpEntries
	c.ListenClientUrls, c.ListenPeerUrls = nil, nil
	c.EnableGRPCGateway = false
	c.AdvertiseClientUrls, c.AdvertisePeerUrls = []url.URL{nowhere}, []url.URL{nowhere}
	c.InitialCluster = c.Name + "=" + nowhere.String()
	return c
}

// newServer prepares the gRPC server for those who dial. Upstream does the same for its listeners
// (server/embed/etcd.go, serveClients).
func newServer(e *embed.Etcd) *Server {
	return &Server{
		etcd: e, listener: bufconn.Listen(bufferSize), calls: newCalls(),
		grpc: v3rpc.Server(e.Server, nil, nil,
			grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: embed.DefaultGRPCKeepAliveMinTime}),
			grpc.WaitForHandlers(true), // Stop returns once none reads the store
		),
	}
}

// serve speaks gRPC with those who dial, until [Server.Stop].
func (s *Server) serve() {
	go func() { _ = s.grpc.Serve(s.listener) }()
}

// URL is what a client that must have one is given; what counts is its dialer. Each prefix has a URL of its
// own: API servers in one process take the same URL for the same etcd and share what compacts its history
// (k8s.io/apiserver/pkg/storage/etcd3/compact.go), which the first of them that ends would stop for all.
func URL(prefix string) string {
	return "http://" + strings.ReplaceAll(strings.Trim(prefix, "/"), "/", ".") + ".etcd.internal:2379"
}

// Dial connects to the server. The address does not matter.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return s.listener.DialContext(ctx)
}

// Failed delivers the error with which the server ended by itself.
func (s *Server) Failed() <-chan error { return s.etcd.Err() }

// Stop ends the server. Everything acknowledged is on disk afterwards.
//
// The clients are in this process and may go on with requests. Stop first refuses new requests, breaks off those under
// way and waits until none is left. Only then does it close the store: etcd's handlers do not expect a closed one, and
// a nil pointer in one of them ends the process.
func (s *Server) Stop() {
	s.calls.stop()
	s.grpc.Stop()
	_ = s.listener.Close() // the gRPC server closes only what it serves
	s.etcd.Server.HardStop()
}
