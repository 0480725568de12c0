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
