// Package engine assembles a cluster in this process: keys and etcd side by side,
// the seed, the API server, then controllers, scheduler and nodes.
//
//	cluster, err := engine.Start(ctx, engine.Options{…})
//	…
//	cluster.Stop()
//
// Start returns once the cluster is of use: nodes are Ready and the default service
// account exists, so that a Job which is applied now starts now. A failure is an
// [*Error] that names the component.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/cluster/apiserver"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/kubeconfig"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/pki"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/seed"
)

// etcdPrefix is upstream's default, below which all keys of the API server lie.
const etcdPrefix = "/registry"

// Options says which cluster to start. Dir exists and belongs to this process alone.
type Options struct {
	Name           string
	Dir            string
	Port           int // 0 picks a free one
	Durable        bool
	Nodes          []node.Spec // with Controllers only
	Controllers    bool        // run controllers, scheduler and nodes
	APIServerFlags []string
	// Unseeded starts from an empty store, with all start-up hooks on: that is
	// how a seed is recorded.
	Unseeded bool
	// Logger is asked for the log of each component. What Kubernetes' parts log without
	// saying on whose behalf, the API server's above all, is not in there but klog's.
	Logger func(component string) *slog.Logger
	// Fatal is called when a component gives up in a way that the process does not
	// survive. It should not return.
	Fatal func(component string, err error)
	// Progress is called with every change of a component's state, in order.
	Progress func(component string, state protocol.State)
}

// Error is a failure of one component.
type Error struct {
	Component string // one of package protocol's
	Err       error
}

// Error says which component failed and why.
func (e *Error) Error() string { return e.Component + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Cluster is a cluster that runs or is being started.
type Cluster struct {
	options Options
	keys    pki.Files
	store   *etcd.Server
	server  *apiserver.Server
	address string

	stopWorkers context.CancelFunc // ends controllers, scheduler and nodes
	stopServer  context.CancelFunc
	serverReady bool // its start-up hooks are through
	workers     sync.WaitGroup
	failed      chan error // the first component that ended by itself

	mu     sync.Mutex // orders calls of Progress
	active []string   // components that were started and have not ended, in that order
}

// Start starts a cluster. When it fails or ctx ends, nothing is left running but
// what the process's end takes with it.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	life := context.WithoutCancel(ctx)
	serverLife, stopServer := context.WithCancel(life)
	workersLife, stopWorkers := context.WithCancel(life)
	c := &Cluster{options: o, stopServer: stopServer, stopWorkers: stopWorkers, failed: make(chan error, 1)}
	if err := c.start(ctx, serverLife, workersLife); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// start follows the order in which components need each other. ctx bounds the
// start, the others the lives of components.
func (c *Cluster) start(ctx, serverLife, workersLife context.Context) error {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", c.options.Port))
	if err != nil {
		return &Error{protocol.APIServer, err}
	}
	c.address = "https://" + listener.Addr().String()
	if err := c.startStore(ctx); err != nil {
		_ = listener.Close() // the server does not have it yet
		return err
	}
	if err := c.startServer(ctx, serverLife, listener); err != nil {
		return err
	}
	if !c.options.Controllers {
		return nil
	}
	return c.startWorkers(ctx, workersLife)
}

// startStore runs etcd and makes the keys at the same time.
func (c *Cluster) startStore(ctx context.Context) error {
	dir := filepath.Join(c.options.Dir, "etcd")
	if !c.options.Durable {
		if err := removeAll(dir, c.keysDir()); err != nil {
			return &Error{protocol.Etcd, err}
		}
	}
	made := make(chan error, 1)
	go func() {
		var err error
		c.keys, err = pki.Ensure(c.keysDir(), c.options.Name)
		made <- err
	}()
	err := c.startEtcd(ctx, dir)
	if err := <-made; err != nil {
		return &Error{protocol.APIServer, err}
	}
	return err
}

func (c *Cluster) startEtcd(ctx context.Context, dir string) error {
	c.progress(protocol.Etcd, protocol.Starting)
	store, err := etcd.Start(ctx, c.etcdConfig(dir))
	if err != nil {
		return &Error{protocol.Etcd, err}
	}
	c.store = store
	go func() {
		if err, ok := <-store.Failed(); ok {
			c.fail(protocol.Etcd, err)
		}
	}()
	if err := c.seed(ctx); err != nil {
		return &Error{protocol.Etcd, err}
	}
	c.progress(protocol.Etcd, protocol.Running)
	return nil
}

func (c *Cluster) etcdConfig(dir string) etcd.Config {
	config := etcd.Config{Dir: dir, Log: c.options.Logger(protocol.Etcd), Durable: c.options.Durable}
	if c.options.Fatal != nil {
		config.Fatal = func(err error) { c.options.Fatal(protocol.Etcd, err) }
	}
	return config
}

// seed fills an empty store; a durable one was filled when it was new.
func (c *Cluster) seed(ctx context.Context) error {
	if c.options.Unseeded {
		return nil
	}
	if empty, err := c.store.Empty(ctx, etcdPrefix+"/"); err != nil || !empty {
		return err
	}
	s, err := seed.Load()
	if err != nil {
		return err
	}
	return s.Write(ctx, c.store, etcdPrefix)
}

func (c *Cluster) startServer(ctx, life context.Context, listener net.Listener) error {
	c.progress(protocol.APIServer, protocol.Starting)
	server, err := apiserver.New(life, apiserver.Options{
		Dir: c.options.Dir, Listener: listener, Etcd: c.store, EtcdPrefix: etcdPrefix,
		Keys: c.keys, Seeded: !c.options.Unseeded, Flags: c.options.APIServerFlags,
	})
	if err != nil {
		return &Error{protocol.APIServer, err}
	}
	c.server = server
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go c.run(life, protocol.APIServer, func(life context.Context) error {
		err := server.Run(life)
		cancel(err) // so that nobody waits for a server that ended
		return err
	})
	if err := kubeconfig.Write(c.Kubeconfig(), c.options.Name, c.address, c.keys); err != nil {
		return &Error{protocol.APIServer, err}
	}
	if err := server.WaitReady(ctx); err != nil {
		return &Error{protocol.APIServer, err}
	}
	c.serverReady = true
	c.progress(protocol.APIServer, protocol.Running)
	return nil
}

// run runs a component until it ends, which before the cluster's end is a failure.
func (c *Cluster) run(ctx context.Context, component string, f func(context.Context) error) {
	err := f(ctx)
	if ctx.Err() != nil {
		c.progress(component, protocol.Ended)
		return
	}
	if err == nil {
		err = errors.New("ended by itself")
	}
	c.fail(component, err)
}

func (c *Cluster) fail(component string, err error) {
	select {
	case c.failed <- &Error{component, err}:
	default: // the first failure is the one that counts
	}
}

func (c *Cluster) progress(component string, state protocol.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case protocol.Starting:
		c.active = append(c.active, component)
	case protocol.Ended:
		c.active = slices.DeleteFunc(c.active, func(name string) bool { return name == component })
	}
	if c.options.Progress != nil {
		c.options.Progress(component, state)
	}
}

// Store is the cluster's etcd.
func (c *Cluster) Store() *etcd.Server { return c.store }

// Server is the API server's URL.
func (c *Cluster) Server() string { return c.address }

// Kubeconfig is the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.options.Dir, "kubeconfig") }

// Failed delivers an [*Error] when a component ends by itself.
func (c *Cluster) Failed() <-chan error { return c.failed }

func (c *Cluster) keysDir() string { return filepath.Join(c.options.Dir, "pki") }

// removeAll removes what an earlier cluster left behind.
func removeAll(paths ...string) error {
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove old data: %w", err)
		}
	}
	return nil
}
