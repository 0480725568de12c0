package serve

import (
	"os"
	"slices"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/version"
)

// status is what the request status answers.
type status struct {
	mu      sync.Mutex
	started time.Time
	now     protocol.Status
}

func newStatus(started time.Time) *status {
	return &status{started: started, now: protocol.Status{
		Kubernetes: version.Kubernetes, PID: os.Getpid(), Components: []protocol.Component{}, Logical: []protocol.LogicalCluster{},
	}}
}

func (s *status) set(component string, state protocol.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.now.Components, func(c protocol.Component) bool { return c.Name == component })
	if at < 0 {
		at = len(s.now.Components)
		s.now.Components = append(s.now.Components, protocol.Component{Name: component})
	}
	s.now.Components[at].State = state
	if state == protocol.StateStopping {
		s.now.Ready = false
	}
}

// describe completes what components are doing with messages.
func describe(components []protocol.Component, doing map[string]string) {
	for i, c := range components {
		if c.State == protocol.StateReady {
			components[i].Message = doing[c.Name]
		}
	}
}

func (s *status) ready(r protocol.Ready) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Ready, s.now.Server, s.now.Kubeconfig, s.now.Registry = true, r.Server, r.Kubeconfig, r.Registry
}

func (s *status) snapshot() protocol.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now
	now.Components = slices.Clone(now.Components)
	now.UptimeMs, now.RSSBytes = time.Since(s.started).Milliseconds(), residentMemory()
	return now
}

// mostAddresses bounds how many addresses a status has.
const mostAddresses = 256

// addresses are the first addresses of a cluster as the protocol has them, and how many more there are.
func addresses(all []engine.Address) (first []protocol.Address, more int) {
	for _, a := range all[:min(len(all), mostAddresses)] {
		first = append(first, protocol.Address(a))
	}
	return first, len(all) - len(first)
}
