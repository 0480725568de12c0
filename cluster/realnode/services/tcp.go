package services

import (
	"context"
	"net"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

func (p *Proxy) listenTCP(ctx context.Context, k key, t target) (func(), error) {
	listener, err := p.listener(ctx, k)
	if err != nil {
		return nil, err
	}
	limit := p.fromPods
	if k.host {
		limit = p.fromHost
	}
	p.group.Go(func() {
		connlimit.Connections(listener, func(conn net.Conn) { p.enter(ctx, conn, t, limit) }, p.trouble)
	})
	return func() { _ = listener.Close() }, nil
}

// enter forwards a connection, or resets it above the limit.
func (p *Proxy) enter(ctx context.Context, conn net.Conn, t target, limit *connlimit.Limit) {
	leave, ok := limit.Enter(conn.RemoteAddr())
	if !ok {
		p.reported.reportLimit(p.options.Log, "connections", conn.RemoteAddr())
		reset(conn)
		return
	}
	p.group.Go(func() {
		defer leave()
		p.pass(ctx, conn, t)
	})
}

// reset closes a connection with RST, which the client sees as refusal.
func reset(conn net.Conn) { connlimit.Reset(conn) }

func (p *Proxy) listener(ctx context.Context, k key) (net.Listener, error) {
	if k.host {
		return (&net.ListenConfig{}).Listen(ctx, "tcp4", k.address)
	}
	return p.options.Inside.Listen(ctx, k.address)
}

// pass forwards one connection, or explains to its client why that is impossible.
func (p *Proxy) pass(ctx context.Context, conn net.Conn, t target) {
	defer conn.Close()
	to, _, err := p.dial(ctx, "tcp", t, conn.RemoteAddr())
	if err != nil {
		servePage(ctx, conn, err)
		return
	}
	defer to.Close()
	connlimit.Join(ctx, conn, to)
}
