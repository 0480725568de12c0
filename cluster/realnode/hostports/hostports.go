package hostports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/intake"
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
	synced  []cache.InformerSynced
	changed chan struct{}
	limit   *intake.Limit
	group   sync.WaitGroup

	open map[netip.AddrPort]listener   // by Run alone
	told map[types.UID]map[string]bool // by Run alone: what was reported of a pod
}

// listener is an open port.
type listener struct {
	port
	net.Listener
	cancel context.CancelFunc
}

const (
	// mostConns is how many connections there are at a time.
	mostConns = 1024
	// retry is how long it takes until a port is tried again that another program has.
	retry = time.Second
	// dialLimit bounds the way to a pod.
	dialLimit = 5 * time.Second
)

// New returns a server for the pods that informers know, which have not been started yet.
func New(pods []cache.SharedIndexInformer, o Options) (*Server, error) {
	s := &Server{
		options: o, pods: pods, changed: make(chan struct{}, 1), limit: intake.NewLimit(mostConns, mostConns),
		open: map[netip.AddrPort]listener{}, told: map[types.UID]map[string]bool{},
	}
	for _, informer := range pods {
		registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { s.notice() }, UpdateFunc: func(any, any) { s.notice() }, DeleteFunc: func(any) { s.notice() },
		})
		if err != nil {
			return nil, fmt.Errorf("follow the pods with host ports: %w", err)
		}
		s.synced = append(s.synced, registration.HasSynced)
	}
	return s, nil
}

func (s *Server) notice() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Run serves until ctx ends, and returns when nothing is served any more.
func (s *Server) Run(ctx context.Context) {
	defer func() {
		s.closeBut(nil)
		s.group.Wait()
	}()
	if !cache.WaitForCacheSync(ctx.Done(), s.synced...) {
		return
	}
	for {
		var again <-chan time.Time
		if !s.follow(ctx) {
			again = time.After(retry)
		}
		select {
		case <-s.changed:
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

// follow opens and closes ports, and says whether all that can be had are there.
func (s *Server) follow(ctx context.Context) (all bool) {
	pods := s.list()
	ports, refused := wanted(pods, s.options.Plain)
	s.forget(pods)
	for _, r := range refused {
		s.tell(r)
	}
	s.closeBut(ports)
	all = true
	for at, p := range ports {
		if _, ok := s.open[at]; ok {
			continue
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", at.String())
		if err != nil {
			s.tell(refusal{p.pod, explain(at, err)})
			all = false
			continue
		}
		s.serve(ctx, p, l)
	}
	return all
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

// closeBut closes the ports that are not among those wanted, with their connections.
func (s *Server) closeBut(ports map[netip.AddrPort]port) {
	for at, l := range s.open {
		if p, ok := ports[at]; ok && p.same(l.port) {
			continue
		}
		l.cancel()
		_ = l.Close()
		delete(s.open, at)
	}
}

// explain says why a port cannot be had.
func explain(at netip.AddrPort, err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf("host port %s is not served: another program of this machine, or a NodePort, has it", at)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("host port %s is not served: the user of the cluster may not listen on ports below 1024; use a higher one", at)
	}
	return fmt.Sprintf("host port %s is not served: %v", at, err)
}

// tell reports something of a pod once.
func (s *Server) tell(r refusal) {
	of := s.told[r.pod.UID]
	if of == nil {
		of = map[string]bool{}
		s.told[r.pod.UID] = of
	}
	if !of[r.why] {
		of[r.why] = true
		s.options.Refused(r.pod, r.why)
	}
}

// forget lets go what was reported of pods that are gone.
func (s *Server) forget(pods []*corev1.Pod) {
	for uid := range s.told {
		if !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.UID == uid }) {
			delete(s.told, uid)
		}
	}
}

// serve passes the connections to a port on to its pod.
func (s *Server) serve(ctx context.Context, p port, l net.Listener) {
	ctx, cancel := context.WithCancel(ctx)
	s.open[p.at] = listener{p, l, cancel}
	s.group.Go(func() {
		intake.Connections(l, func(conn net.Conn) {
			leave, ok := s.limit.Enter(conn.RemoteAddr())
			if !ok {
				intake.Reset(conn)
				return
			}
			s.group.Go(func() {
				defer leave()
				s.pass(ctx, conn, p.to)
			})
		}, s.options.Trouble)
	})
}

// pass joins a connection to one with the pod.
func (s *Server) pass(ctx context.Context, conn net.Conn, to netip.AddrPort) {
	defer conn.Close()
	limited, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	pod, err := s.options.Dial(limited, "tcp", to.String())
	if err != nil {
		intake.Reset(conn)
		return
	}
	defer pod.Close()
	intake.Join(ctx, conn, pod)
}
