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

// Options say how pods are reached, and to whom refusals are reported. None may be nil.
type Options struct {
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Plain   bool // pods listen on this machine themselves
	Refused func(pod *corev1.Pod, why string)
	Trouble func(error) // is called with an error because of which connections have to wait
}

// Server serves host ports.
type Server struct {
	options Options
	pods    []cache.SharedIndexInformer
	changes *listeners.Changes
	open    *listeners.Set[netip.AddrPort, purpose]
	limit   *connlimit.Limit
	group   sync.WaitGroup

	known    map[types.UID]*corev1.Pod     // by Run alone
	reported map[types.UID]map[string]bool // by Run alone: what was reported of a pod
}

const (
	// mostConns is how many connections there are at a time.
	mostConns = 1024
	// dialLimit bounds the way to a pod.
	dialLimit = 5 * time.Second
)

// New returns a server for the pods that informers know, which have not been started yet.
func New(pods []cache.SharedIndexInformer, o Options) (*Server, error) {
	s := &Server{options: o, pods: pods, limit: connlimit.NewLimit(mostConns, mostConns), reported: map[types.UID]map[string]bool{}}
	s.open = listeners.NewSet(s.serve, func(at netip.AddrPort, p purpose, err error) { s.notify(refusal{s.known[p.pod], explain(at, err)}) })
	var err error
	s.changes, err = listeners.Watch(pods...)
	return s, err
}

// Run serves until ctx ends, and returns when nothing is served any more.
func (s *Server) Run(ctx context.Context) {
	s.changes.Run(ctx, func() bool { return s.follow(ctx) })
	s.close(ctx)
}

func (s *Server) close(ctx context.Context) {
	s.open.Keep(ctx, nil)
	s.group.Wait()
}

// follow opens and closes ports, and says whether all that can be had are there.
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

// explain says why a port cannot be had.
func explain(at netip.AddrPort, err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf("host port %s is not served: another program of this machine, or a NodePort, uses it", at)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("host port %s is not served: the user of the cluster may not listen on ports below 1024; use a higher one", at)
	}
	return fmt.Sprintf("host port %s is not served: %v", at, err)
}

// notify reports something of a pod once.
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

// know remembers the pods that there are, and forgets what was reported of others.
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

// serve passes the connections to a port on to its pod, until the function that it returns ends them all.
func (s *Server) serve(ctx context.Context, at netip.AddrPort, p purpose) (func(), error) {
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

// pass joins a connection to one with the pod.
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
