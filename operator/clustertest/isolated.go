package clustertest

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/protocol"
)

// Isolated starts a cluster of its own for t inside the program of c: with its own API server, objects, kinds
// and controllers, but faster and smaller than one more program. It is started with the options of c
// and then these, and stopped at the end of t, or with c.
//
// Feature gates are of the whole program and cannot be changed.
func (c *Cluster) Isolated(t testing.TB, options ...Option) *Cluster {
	t.Helper()
	own, err := c.IsolatedContext(t.Context(), options...)
	if err != nil {
		fatal(t, err)
	}
	own.closeWith(t)
	return own
}

// errGates is why a logical cluster is not started.
var errGates = errors.New("feature gates apply to the whole program")

// IsolatedContext is [Cluster.Isolated] without a test: [Cluster.Close] stops the cluster.
func (c *Cluster) IsolatedContext(ctx context.Context, options ...Option) (*Cluster, error) {
	s := c.settings.with(options)
	if !maps.Equal(s.spec.FeatureGates, c.settings.spec.FeatureGates) {
		return nil, &fault.Error{What: "an isolated cluster cannot have its own feature gates", Err: errGates,
			Hint: "use clustertest.Start, which starts a separate program"}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return logicalCluster(ctx, c.program, s)
}

// program is a running program, with at least one cluster.
type program struct {
	conn *protocol.Conn
	dir  string // for files of ours
	tied bool   // it is not ours alone: what we start in it ends with our connection
}

// logicalCluster starts a logical cluster in p.
func logicalCluster(ctx context.Context, p program, s settings) (*Cluster, error) {
	c, err := s.begin(func(f protocol.Spec) (*Cluster, error) {
		ask := protocol.AddLogical{Name: logicalName(), Controllers: f.Controllers, ControllerNames: f.ControllerNames, SimulatedPods: f.SimulatedPods, SimulatedJobs: f.SimulatedJobs, Nodes: f.Nodes,
			APIServerFlags: append(f.RuntimeFlags(), f.APIServerFlags...), Tied: p.tied}
		c := &Cluster{program: p, settings: s, logical: ask.Name, end: func() error { return remove(p.conn, ask.Name) }}
		var added protocol.LogicalAdded
		if err := p.conn.Call(ctx, "addLogical", ask, &added); err != nil {
			if ctx.Err() != nil { // the program goes on making it
				err = errors.Join(err, c.end())
			}
			return nil, &fault.Error{What: "an isolated cluster did not start", Err: err}
		}
		c.reached = protocol.Cluster{Server: added.Server, Kubeconfig: added.Kubeconfig}
		return c, nil
	})
	if err != nil {
		return nil, err
	}
	return c.prepared(ctx)
}

// removeTime bounds the end of a logical cluster.
const removeTime = time.Minute

// remove stops a logical cluster. When the program is gone, so is the cluster.
func remove(conn *protocol.Conn, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), removeTime)
	defer cancel()
	err := conn.Call(ctx, "removeLogical", protocol.RemoveLogical{Name: name}, nil)
	if err == nil || errors.Is(err, protocol.ErrEnded) {
		return nil
	}
	return &fault.Error{What: "an isolated cluster was not stopped", Err: err}
}

// logicalName returns a name that no other process, which may share the program, uses.
func logicalName() string { return "test-" + strings.ToLower(rand.Text()[:12]) }
