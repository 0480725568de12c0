// Package engine assembles clusters in this process. A [Host] is one etcd with the main
// cluster on it and any number of logical clusters beside that; a [Cluster] is an API server
// with its controllers, scheduler and nodes, below a prefix of its own in that etcd.
//
//	host, err := engine.Start(ctx, engine.Options{…})
//	…
//	logical, err := host.Add(ctx, "a", engine.Spec{…})
//	outcome, err := logical.Reset(ctx)
//	…
//	host.Stop()
//
// Start and Add return once the cluster is of use: nodes are Ready and the default service
// account exists, so that a Job which is applied now starts now. A failure is an
// [*protocol.ComponentError] that names the component.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/realnode"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
	"github.com/slipway-dev/slipway/cluster/rollback"
	"github.com/slipway-dev/slipway/cluster/scheduler"
	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// mainPrefix is upstream's default, below which all keys of the main cluster lie.
const mainPrefix = "/registry"

// Options says which clusters to start. Dir exists and belongs to this process alone.
type Options struct {
	Dir     string
	Durable bool
	Main    Spec
	// Images are those in the registry that the clusters share; nil without one.
	Images scheduler.Images
	// Logger is asked for the log of each component. What Kubernetes' parts log without
	// saying on whose behalf, the API server's above all, is not in there but klog's.
	Logger func(component string) *slog.Logger
	// Fatal is called when a component gives up in a way that the process does not
	// survive. It should not return.
	Fatal func(component string, err error)
	// Klog is asked for where a component's processes may write in klog's format. May be nil.
	Klog func(component string) io.Writer
	// Progress is called with every change of a component's state, in order. Those of
	// logical clusters get no event.
	Progress func(component string, state protocol.State)
	// Note is called with what users should know of a component. May be nil.
	Note func(component, text string)
	// Large is called when an API server gets a large object. May be nil.
	Large func()
}

// Spec describes one cluster.
type Spec struct {
	Name        string
	Port        int         // 0 picks a free one
	Nodes       []node.Spec // simulated ones; with Controllers only
	RealNodes   []node.Spec // those that run pods; with Controllers and Real only
	Controllers bool        // run controllers, scheduler and nodes

	Loops          []controllers.Controller // which controllers run; nil: all
	Habits         stage.Habits             // of simulated pods
	APIServerFlags []string
	// Real is what real nodes need; without it there are none, and none can join. With it, where there are nodes of
	// both kinds, pods are placed by their images.
	Real *Real
	// RecordBytes bounds the record of what happens; 0: there is none.
	RecordBytes int64
	// Unseeded starts from an empty store, with all start-up hooks on: that is
	// how a seed is recorded.
	Unseeded bool
}

// Real says what real nodes need. Only the main cluster can have them.
type Real struct {
	Program  string // the path of slipway-node, beside which slipway-container lies, for RealNodes
	Plain    bool   // pods of RealNodes are to be plain processes, also where they could be isolated
	Isolated bool   // pods of RealNodes are never plain processes: where they cannot be isolated, the start fails
	realnode.Reach
	// Joins says that a real node joins as soon as the cluster runs, so that the one of an earlier run is left alone
	// until then.
	Joins bool
}

// containerProgram lies beside slipway-node.
const containerProgram = "slipway-container"

// container is the path of slipway-container; empty if that of slipway-node is not known.
func (r *Real) container() string {
	if r == nil || r.Program == "" {
		return ""
	}
	return containerBeside(r.Program)
}

func containerBeside(program string) string {
	return filepath.Join(filepath.Dir(program), containerProgram)
}

// Host is the etcd of this process with the clusters on it.
type Host struct {
	options    Options
	components *components
	store      *etcd.Server
	main       *Cluster
	failed     chan error   // the first component that ended by itself
	opened     atomic.Int64 // how many doors were

	mu      sync.Mutex
	closed  bool                // no more logical clusters
	logical map[string]*logical // by name
}

// Start starts etcd and the main cluster. When it fails or ctx ends, nothing is left
// running but what the process's end takes with it.
func Start(ctx context.Context, o Options) (*Host, error) {
	h := &Host{options: o, components: &components{tell: o.Progress}, failed: make(chan error, 1), logical: map[string]*logical{}}
	if err := h.start(ctx); err != nil {
		h.Stop()
		return nil, err
	}
	return h, nil
}

// start starts etcd and the main cluster at the same time: for a good part of their
// starts one waits for an election, and the other computes keys and routes.
func (h *Host) start(ctx context.Context) error {
	h.main = h.newCluster(h.options.Main, h.options.Dir, mainPrefix)
	h.main.components = h.components
	if err := h.clear(); err != nil {
		return &protocol.ComponentError{Component: protocol.Etcd, Err: err}
	}
	return h.main.startWhile(ctx, h.startEtcd)
}

// clear removes what earlier clusters left behind.
func (h *Host) clear() error {
	paths := []string{h.logicalDir(), h.main.doorsDir()}
	if !h.options.Durable {
		paths = append(paths, h.etcdDir(), h.main.keysDir())
		if err := machine.RemoveAll(h.main.nodesDir(), h.main.spec.Real.container()); err != nil {
			return fmt.Errorf("remove old data: %w", err)
		}
	}
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove old data: %w", err)
		}
	}
	return nil
}

// startEtcd starts etcd and offers it to the main cluster once it is filled.
func (h *Host) startEtcd(ctx context.Context, to *coming) error {
	h.components.set(protocol.Etcd, protocol.StateStarting)
	store, err := etcd.Start(ctx, h.etcdConfig())
	if err != nil {
		return &protocol.ComponentError{Component: protocol.Etcd, Err: err}
	}
	h.store = store
	go func() {
		if err, ok := <-store.Failed(); ok {
			h.fail(&protocol.ComponentError{Component: protocol.Etcd, Err: err})
		}
	}()
	if err := store.Delete(ctx, logicalPrefix+"/"); err != nil {
		return &protocol.ComponentError{Component: protocol.Etcd, Err: err}
	}
	if err := h.resume(ctx, store); err != nil {
		return &protocol.ComponentError{Component: protocol.Etcd, Err: err}
	}
	if err := h.main.fill(ctx, store); err != nil {
		return err
	}
	h.main.record(h.options.Durable)
	to.come(store)
	h.components.set(protocol.Etcd, protocol.StateReady)
	return nil
}

// resume finishes a reset of a durable cluster that the end of the process interrupted, before any client reads a
// store between two states.
func (h *Host) resume(ctx context.Context, store *etcd.Server) error {
	if !h.options.Durable {
		return nil
	}
	h.main.journal = rollback.NewJournal(store, filepath.Join(h.options.Dir, "baseline"))
	resumed, err := h.main.journal.Resume(ctx, mainPrefix)
	if resumed && h.options.Note != nil {
		h.options.Note(protocol.Etcd, "the cluster has finished an interrupted reset")
	}
	return err
}

func (h *Host) etcdConfig() etcd.Config {
	config := etcd.Config{Dir: h.etcdDir(), Log: h.options.Logger(protocol.Etcd), Durable: h.options.Durable}
	if h.options.Fatal != nil {
		config.Fatal = func(err error) { h.options.Fatal(protocol.Etcd, err) }
	}
	return config
}

func (h *Host) fail(err error) {
	select {
	case h.failed <- err:
	default: // the first failure is the one that counts
	}
}

// Main is the main cluster.
func (h *Host) Main() *Cluster { return h.main }

// Store is the clusters' etcd.
func (h *Host) Store() *etcd.Server { return h.store }

// Failed delivers a [*protocol.ComponentError] when a component ends by itself.
func (h *Host) Failed() <-chan error { return h.failed }

func (h *Host) etcdDir() string { return filepath.Join(h.options.Dir, "etcd") }
