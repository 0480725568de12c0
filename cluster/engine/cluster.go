package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/cluster/apiserver"
	"github.com/slipway-dev/slipway/cluster/authorship"
	"github.com/slipway-dev/slipway/cluster/baseline"
	"github.com/slipway-dev/slipway/cluster/connlimit"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/kubeconfig"
	"github.com/slipway-dev/slipway/cluster/pki"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/recorder"
	"github.com/slipway-dev/slipway/cluster/rollback"
	"github.com/slipway-dev/slipway/cluster/scheduler"
	"github.com/slipway-dev/slipway/cluster/seed"
	"github.com/slipway-dev/slipway/cluster/workers"
)

// Cluster is one cluster that runs or is being started.
type Cluster struct {
	spec       Spec
	dir        string
	prefix     string // of its keys in etcd
	logger     func(component string) *slog.Logger
	fail       func(error) // is told when a component ends by itself
	components *components
	registry   scheduler.Images // nil without one

	store   *etcd.Server
	journal *rollback.Journal // of resets; nil if the store does not outlive the process
	keys    pki.Files
	server  *apiserver.Server
	address string
	nodes   atomic.Pointer[fleet]  // nil without controllers, and until they are ready
	reach   *reach                 // into the network of real nodes
	out     atomic.Pointer[outlet] // nil without real nodes for good, and until the controllers are set up
	doors   doors
	klog    func(component string) io.Writer
	note    func(component, text string)
	large   func()

	calls    *authorship.Calls // nil without a record
	recorder atomic.Pointer[recorder.Recorder]

	serverLife, workersLife context.Context
	stopServer, stopWorkers context.CancelFunc
	serverReady             atomic.Bool   // its start-up hooks are through
	serverEnded             chan struct{} // closed once the server, which was started, has ended
	workers                 sync.WaitGroup

	gate      *gate            // between workers and server
	admin     *rest.RESTClient // with all rights, past the gate
	base      *baseline.Baseline
	settled   bool // the baseline has all that comes late
	kept      bool // the baseline is not that of the start
	resetting sync.Mutex

	mu    sync.Mutex
	views []informed.View // of what the server and the workers know
}

// newCluster describes a cluster of h; nothing runs yet.
func (h *Host) newCluster(spec Spec, dir, prefix string) *Cluster {
	c := &Cluster{
		spec: spec, dir: dir, prefix: prefix, registry: h.options.Images,
		logger: h.options.Logger, fail: h.fail, klog: h.options.Klog, note: h.options.Note, large: h.options.Large,
		components: &components{}, serverEnded: make(chan struct{}), gate: &gate{}, reach: &reach{},
	}
	c.calls = c.authors()
	c.serverLife, c.stopServer = context.WithCancel(context.Background())
	c.workersLife, c.stopWorkers = context.WithCancel(context.Background())
	return c
}

// start follows the order in which components need each other. The store may be on
// its way. ctx bounds the start.
func (c *Cluster) start(ctx context.Context, store apiserver.Dialer) error {
	var err error
	if c.keys, err = pki.Ensure(c.keysDir(), c.spec.Name); err != nil {
		return &protocol.ComponentError{Component: protocol.APIServer, Err: err}
	}
	if c.spec.Controllers && len(c.spec.RealNodes) > 0 {
		if err := c.startMachine(ctx, c.spec.Real.Program); err != nil {
			return &protocol.ComponentError{Component: protocol.Nodes, Err: err}
		}
	}
	if err := c.startServer(ctx, store); err != nil {
		return err
	}
	if c.spec.Controllers {
		if err := c.startWorkers(ctx, c.workersLife); err != nil {
			return err
		}
	}
	return c.remember(ctx)
}

// fill gives the cluster its store, and fills that if it is empty; a durable one was
// filled when it was new.
func (c *Cluster) fill(ctx context.Context, store *etcd.Server) error {
	c.store = store
	if c.spec.Unseeded {
		return nil
	}
	empty, err := store.Empty(ctx, c.prefix+"/")
	if err == nil && empty {
		err = c.seed(ctx)
	}
	if err != nil {
		return &protocol.ComponentError{Component: protocol.Etcd, Err: err}
	}
	return nil
}

func (c *Cluster) seed(ctx context.Context) error {
	s, err := seed.Load()
	if err != nil {
		return err
	}
	return s.Write(ctx, c.store, c.prefix)
}

func (c *Cluster) startServer(ctx context.Context, store apiserver.Dialer) error {
	c.components.set(protocol.APIServer, protocol.StateStarting)
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", c.spec.Port))
	if err != nil {
		return &protocol.ComponentError{Component: protocol.APIServer, Err: err}
	}
	listener = connlimit.HangUp(listener)
	c.address = "https://" + listener.Addr().String()
	c.server, err = apiserver.New(c.serverLife, apiserver.Options{
		Dir: c.dir, Listener: listener, Etcd: store, EtcdPrefix: c.prefix,
		Keys: c.keys, Seeded: !c.spec.Unseeded, Flags: c.spec.APIServerFlags, Inside: c.reach, Large: c.large, Calls: c.calls,
	})
	if err != nil {
		_ = listener.Close() // the server does not have it
		return &protocol.ComponentError{Component: protocol.APIServer, Err: err}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go c.runServer(cancel)
	if err := kubeconfig.Write(c.Kubeconfig(), c.spec.Name, c.address, c.keys); err != nil {
		return &protocol.ComponentError{Component: protocol.APIServer, Err: err}
	}
	if err := c.server.WaitReady(ctx); err != nil {
		return &protocol.ComponentError{Component: protocol.APIServer, Err: err}
	}
	c.serverReady.Store(true)
	c.see(c.server.Known)
	if c.admin, err = c.server.Client(); err != nil {
		return &protocol.ComponentError{Component: protocol.APIServer, Err: err}
	}
	c.components.set(protocol.APIServer, protocol.StateReady)
	return nil
}

// runServer runs the API server to its end, of which it tells those who wait for it to
// get ready.
func (c *Cluster) runServer(ended context.CancelCauseFunc) {
	defer close(c.serverEnded)
	c.run(c.serverLife, protocol.APIServer, func(life context.Context) error {
		err := c.server.Run(life)
		ended(err)
		return err
	})
}

// run runs a component until it ends, which before the cluster's end is a failure.
func (c *Cluster) run(ctx context.Context, component string, f func(context.Context) error) {
	err := f(ctx)
	if ctx.Err() != nil {
		c.components.set(component, protocol.StateStopped)
		return
	}
	if err == nil {
		err = errors.New("ended by itself")
	}
	c.fail(&protocol.ComponentError{Component: component, Err: err})
}

// see adds to what a reset waits for.
func (c *Cluster) see(view informed.View) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.views = append(c.views, view)
}

// loopback is the configuration of those who have to stand back while the cluster is reset.
func (c *Cluster) loopback() *rest.Config {
	config := c.server.Loopback()
	config.Wrap(c.gate.wrap)
	return config
}

// Name is the cluster's name.
func (c *Cluster) Name() string { return c.spec.Name }

// Nodes are its nodes; nil for a cluster without controllers.
func (c *Cluster) Nodes() workers.Nodes {
	if f := c.nodes.Load(); f != nil {
		return f
	}
	return nil
}

// Kinds are those of its nodes.
func (c *Cluster) Kinds() Kinds {
	if f := c.nodes.Load(); f != nil {
		return f.kinds()
	}
	return Kinds{}
}

// Panics counts the panics of real nodes' kubelets.
func (c *Cluster) Panics() int {
	if f := c.nodes.Load(); f != nil {
		return f.panics()
	}
	return 0
}

// Server is the API server's URL.
func (c *Cluster) Server() string { return c.address }

// serverAddress is the API server's host:port.
func (c *Cluster) serverAddress() string { return strings.TrimPrefix(c.address, "https://") }

// Kubeconfig is the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

func (c *Cluster) nodesDir() string { return filepath.Join(c.dir, "nodes") }

func (c *Cluster) keysDir() string { return filepath.Join(c.dir, "pki") }
