package hostports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/connlimit"
	"github.com/slipway-dev/slipway/cluster/listeners"
)

// Options configure a [Server]. No function may be nil.
type Options struct {
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Plain   bool // pods listen on this machine by themselves
	Refused func(pod *corev1.Pod, why string)
	Trouble func(error) // receives the first of several errors in a row that delay connections
}

type Server struct {
	options Options
	pods    []cache.SharedIndexInformer
	changes *listeners.Changes
	open    *listeners.Set[netip.AddrPort, target]
	limit   *connlimit.Limit
	group   sync.WaitGroup

	known    map[types.UID]*corev1.Pod     // used by Run alone
	reported map[types.UID]map[string]bool // reasons that a pod was reported for; used by Run alone
}

const (
	// mostConns bounds the open connections, of all ports together.
	mostConns = 1024
	// dialLimit bounds a connection attempt to a pod.
	dialLimit = 5 * time.Second
)

// New returns a server for the pods that informers know. The informers must not have started.
func New(pods []cache.SharedIndexInformer, o Options) (*Server, error) {
	s := &Server{options: o, pods: pods, limit: connlimit.NewLimit(mostConns, mostConns), reported: map[types.UID]map[string]bool{}}
	s.open = listeners.NewSet(s.serve, func(at netip.AddrPort, p target, err error) { s.notify(refusal{s.known[p.pod], explain(at, err)}) })
	var err error
	s.changes, err = listeners.Watch(pods...)
	return s, err
}

// Run serves until ctx ends, and returns when all listeners and connections are closed.
func (s *Server) Run(ctx context.Context) {
	s.changes.Run(ctx, func() bool { return s.follow(ctx) })
	s.close(ctx)
}

func (s *Server) close(ctx context.Context) {
	s.open.Keep(ctx, nil)
	s.group.Wait()
}

// follow opens and closes ports by the current pods. It reports whether all wanted ports are open.
func (s *Server) follow(ctx context.Context) (all bool) {
	pods := s.list()
	ports, refused := wanted(pods, s.options.Plain)
	s.know(pods)
	for _, r := range refused {
		s.notify(r)
	}
	return s.open.Keep(ctx, ports)
}

func (s *Server) list() (pods []*corev1.Pod) {
	for _, informer := range s.pods {
		for _, object := range informer.GetStore().List() {
			if pod, ok := object.(*corev1.Pod); ok {
				pods = append(pods, pod)
			}
		}
	}
	return pods
}

func explain(at netip.AddrPort, err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf("host port %s is not served: another program of this machine, or a NodePort, uses it", at)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("host port %s is not served: the user of the cluster may not listen on ports below 1024; use a higher one", at)
	}
	return fmt.Sprintf("host port %s is not served: %v", at, err)
}

// notify reports a refusal unless it has done so before.
func (s *Server) notify(r refusal) {
	of := s.reported[r.pod.UID]
	if of == nil {
		of = map[string]bool{}
		s.reported[r.pod.UID] = of
	}
	if !of[r.why] {
		of[r.why] = true
		s.options.Refused(r.pod, r.why)
	}
}

// know stores the current pods, and forgets the reports on others.
func (s *Server) know(pods []*corev1.Pod) {
	s.known = map[types.UID]*corev1.Pod{}
	for _, p := range pods {
		s.known[p.UID] = p
	}
	for uid := range s.reported {
		if s.known[uid] == nil {
			delete(s.reported, uid)
		}
	}
}

// serve forwards connections of a port to its pod. The returned function closes the listener and the connections.
func (s *Server) serve(ctx context.Context, at netip.AddrPort, p target) (func(), error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", at.String())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s.group.Go(func() {
		connlimit.Connections(l, func(conn net.Conn) {
			leave, ok := s.limit.Enter(conn.RemoteAddr())
			if !ok {
				connlimit.Reset(conn)
				return
			}
			s.group.Go(func() {
				defer leave()
				s.pass(ctx, conn, p.to)
			})
		}, s.options.Trouble)
	})
	return func() {
		cancel()
		_ = l.Close()
	}, nil
}

func (s *Server) pass(ctx context.Context, conn net.Conn, to netip.AddrPort) {
	defer conn.Close()
	limited, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	pod, err := s.options.Dial(limited, "tcp", to.String())
	if err != nil {
		connlimit.Reset(conn)
		return
	}
	defer pod.Close()
	connlimit.Join(ctx, conn, pod)
}
