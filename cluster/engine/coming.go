package engine

import (
	"context"
	"net"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// coming is an etcd that is being started and filled. Whoever connects to it early
// waits: to the API server's client a refused connection would cost a second.
type coming struct {
	store *etcd.Server
	there chan struct{} // closed when store is set
}

func newComing() *coming { return &coming{there: make(chan struct{})} }

// come is called once, when the store holds what its clients expect.
func (c *coming) come(store *etcd.Server) {
	c.store = store
	close(c.there)
}

// Dial connects to the store when it is there, unless ctx ends before.
func (c *coming) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	select {
	case <-c.there:
		return c.store.Dial(ctx, network, address)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// startWhile starts the cluster while bring brings its store.
func (c *Cluster) startWhile(ctx context.Context, bring func(context.Context, *coming) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	brought, started := make(chan error, 1), make(chan error, 1)
	store := newComing()
	go func() { brought <- bring(ctx, store) }()
	go func() { started <- c.start(ctx, store) }()
	select {
	case err := <-brought:
		if err != nil {
			return err // what has started of the server cannot be stopped, see Stop
		}
		return <-started
	case err := <-started: // without a store: it failed
		cancel()
		<-brought //nolint:errcheck // it was cancelled: the start has failed
		return err
	}
}
