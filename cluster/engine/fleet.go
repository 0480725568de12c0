package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
	"github.com/slipway-dev/slipway/cluster/simnode"
	"github.com/slipway-dev/slipway/cluster/workers"
)

// fleet is the nodes of a cluster, simulated and real ones. Real ones may come later.
type fleet struct {
	simulated workers.Nodes // nil without them

	mu      sync.Mutex
	real    workers.Nodes // nil without them
	stopped bool
}

var _ workers.Nodes = (*fleet)(nil)

// runNodes starts the nodes that the cluster begins with. Simulated ones come first: each kind gives its nodes numbers
// that are free.
func (c *Cluster) runNodes(ctx context.Context, specs []node.Spec, log *slog.Logger) (workers.Nodes, error) {
	f := &fleet{}
	if len(specs) > 0 || len(c.spec.RealNodes) == 0 {
		others := names(c.spec.RealNodes)
		if c.spec.Real != nil && c.spec.Real.Joins {
			others = append(others, FreeName(node.Joined, specs))
		}
		simulated, err := simnode.Run(ctx, c.loopback(), simnode.Options{
			Specs: specs, Others: others, Log: log, Habits: c.spec.Habits, Why: c.whySimulated(), Images: c.registry,
		})
		if err != nil {
			return nil, err
		}
		f.simulated = simulated
	}
	if len(c.spec.RealNodes) > 0 {
		real, err := c.runReal(ctx, c.spec.Real.Program, c.spec.RealNodes, f.Names(), log)
		if err != nil {
			f.Stop()
			return nil, err
		}
		f.real = real
	}
	c.nodes.Store(f)
	return f, nil
}

func names(specs []node.Spec) []string {
	var all []string
	for _, s := range specs {
		all = append(all, s.Name)
	}
	return all
}

// parts are the kinds that there are.
func (f *fleet) parts() []workers.Nodes {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []workers.Nodes
	for _, part := range []workers.Nodes{f.simulated, f.real} {
		if part != nil {
			all = append(all, part)
		}
	}
	return all
}

// join adds real nodes. They are stopped at once if all are.
func (f *fleet) join(real workers.Nodes) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.real = real
	if f.stopped {
		real.Stop()
	}
}

// panics counts those of real nodes' programs.
func (f *fleet) panics() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if real, ok := f.real.(interface{ Panics() int }); ok {
		return real.Panics()
	}
	return 0
}

// prunable are nodes that have images.
type prunable interface {
	Prune(nodeconfig.Prune) (map[string][]nodeconfig.PrunedImage, map[string]error)
}

// Prune has nodes remove superseded images, and returns them by node, with the errors of nodes. Simulated nodes have
// none.
func (c *Cluster) Prune(p nodeconfig.Prune) (map[string][]nodeconfig.PrunedImage, map[string]error) {
	f := c.nodes.Load()
	if f == nil {
		return nil, nil
	}
	f.mu.Lock()
	real, ok := f.real.(prunable)
	f.mu.Unlock()
	if !ok {
		return nil, nil
	}
	return real.Prune(p)
}

// Kinds are how many nodes of each kind a cluster has.
type Kinds struct{ Simulated, Real int }

func (f *fleet) kinds() Kinds {
	f.mu.Lock()
	defer f.mu.Unlock()
	var k Kinds
	if f.simulated != nil {
		k.Simulated = len(f.simulated.Names())
	}
	if f.real != nil {
		k.Real = len(f.real.Names())
	}
	return k
}

// String reports them as people read it.
func (k Kinds) String() string {
	switch {
	case k.Real == 0:
		return counted(k.Simulated, "simulated node")
	case k.Simulated == 0:
		return counted(k.Real, "real node")
	}
	return fmt.Sprintf("%d simulated and %s", k.Simulated, counted(k.Real, "real node"))
}

// Names lists the nodes.
func (f *fleet) Names() []string { return f.list(workers.Nodes.Names) }

// Lost lists those that were stopped and not started again.
func (f *fleet) Lost() []string { return f.list(workers.Nodes.Lost) }

func (f *fleet) list(of func(workers.Nodes) []string) []string {
	var all []string
	for _, part := range f.parts() {
		all = append(all, of(part)...)
	}
	slices.Sort(all)
	return all
}

// StopNode makes a node be lost, as its kind does.
func (f *fleet) StopNode(name string) error {
	part, err := f.with(name)
	if err != nil {
		return err
	}
	return part.StopNode(name)
}

// StartNode brings a lost node back.
func (f *fleet) StartNode(ctx context.Context, name string) error {
	part, err := f.with(name)
	if err != nil {
		return err
	}
	return part.StartNode(ctx, name)
}

// with returns the kind that a node is of.
func (f *fleet) with(name string) (workers.Nodes, error) {
	for _, part := range f.parts() {
		if slices.Contains(part.Names(), name) {
			return part, nil
		}
	}
	if all := f.Names(); len(all) > 0 {
		return nil, fmt.Errorf("%w %q: the nodes are %s", node.ErrUnknown, name, strings.Join(all, ", "))
	}
	return nil, fmt.Errorf("%w %q: the cluster has no nodes", node.ErrUnknown, name)
}

// StartAll starts all lost nodes.
func (f *fleet) StartAll(ctx context.Context) error {
	var errs []error
	for _, part := range f.parts() {
		errs = append(errs, part.StartAll(ctx))
	}
	return errors.Join(errs...)
}

// Stop ends all nodes, real ones first: they take longer.
func (f *fleet) Stop() {
	f.mu.Lock()
	f.stopped = true
	f.mu.Unlock()
	parts := f.parts()
	slices.Reverse(parts)
	for _, part := range parts {
		part.Stop()
	}
}
