package serve

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/registry"
)

const (
	// joinLimit bounds a real node's way into the cluster, which takes a second.
	joinLimit = time.Minute
	// pushLimit bounds how long the push of an image waits for that.
	pushLimit = 15 * time.Second
)

// errNotBuilt is why no real node joins by itself.
var errNotBuilt = errors.New("the program of isolated nodes is not built yet: `slipway cluster node join` builds it")

// joining remembers why no real node has joined.
type joining struct {
	mu      sync.Mutex
	problem string
}

func (j *joining) set(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.problem = ""
	if err != nil {
		j.problem = err.Error()
	}
}

func (j *joining) why() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.problem
}

// program is the path of slipway-node, if it is there.
func (s *session) program() (path string, ok bool) {
	if s.config.NodeProgram == "" {
		return "", false
	}
	info, err := os.Stat(s.config.NodeProgram)
	return s.config.NodeProgram, err == nil && info.Mode().IsRegular()
}

// joinWithImages has a real node join: now, if images are there, and else when one comes. What is pushed before the
// node is Ready waits for it, so that a pod which is made after the push is placed by it.
func (s *session) joinWithImages(ctx context.Context, images *registry.Registry) {
	if !s.config.Joins() {
		return
	}
	images.Follow(ctx, func() {
		joined := make(chan struct{})
		go func() {
			defer close(joined)
			s.joinByItself(ctx)
		}()
		select {
		case <-joined:
		case <-time.After(pushLimit):
		case <-ctx.Done():
		}
	})
	if !images.Empty() {
		s.joinByItself(ctx)
	}
}

// joinByItself does what nobody waits for: its failure is logged, and status tells it.
func (s *session) joinByItself(ctx context.Context) {
	h := s.host.Load()
	if h == nil || h.Main().Kinds().Real > 0 {
		return
	}
	if _, err := s.join(ctx, ""); err != nil && ctx.Err() == nil {
		s.logs.Logger(protocol.Nodes).Warn("pods stay simulated, although their images are loaded", "why", err)
	}
}

// join has a real node join, of that program or of the configuration's.
func (s *session) join(ctx context.Context, program string) (protocol.NodeJoined, error) {
	var joined protocol.NodeJoined
	if !s.config.Joins() {
		return joined, engine.ErrOneKind
	}
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	err := s.withHost(func(h *engine.Host) (err error) {
		own, built := s.program()
		if program = cmp.Or(program, own); program != own || built || h.Main().Kinds().Real > 0 {
			joined.Name, joined.Already, err = h.Main().Join(ctx, program)
			return err
		}
		return errNotBuilt
	})
	s.joining.set(err)
	if err == nil && !joined.Already {
		s.logs.Logger(protocol.Nodes).Info("an isolated node has joined, for pods whose images are in the registry", "node", joined.Name)
	}
	return joined, err
}

// nodes tells of which kinds the nodes are.
func (s *session) nodes() protocol.NodeKinds {
	n := protocol.NodeKinds{Joins: s.config.Joins(), Problem: s.joining.why()}
	if h := s.host.Load(); h != nil {
		k := h.Main().Kinds()
		n.Simulated, n.Real, n.Egress, n.Plain, n.Panics = k.Simulated, k.Real, h.Main().EgressEnabled(), h.Main().Plain(), h.Main().Panics()
	}
	return n
}
