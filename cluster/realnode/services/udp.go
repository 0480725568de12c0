package services

import (
	"context"
	"net"
	"time"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

const (
	// idle is the time without packets after which a client loses its endpoint.
	idle = 30 * time.Second
	// maxPacket exceeds the size of any UDP packet.
	maxPacket = 64 << 10
)

// listenUDP gives each client a connection of its own to an endpoint, so that answers find their client.
func (p *Proxy) listenUDP(ctx context.Context, k key, t target) (func(), error) {
	conn, err := p.packetConn(ctx, k)
	if err != nil {
		return nil, err
	}
	p.group.Go(func() {
		defer p.flows.end(conn)
		connlimit.Packets(conn, make([]byte, maxPacket), func(packet []byte, client net.Addr) {
			to, err := p.flow(ctx, t, conn, client)
			if err != nil {
				return // UDP packets may get lost
			}
			_ = to.SetReadDeadline(time.Now().Add(idle))
			_, _ = to.Write(packet)
		}, p.trouble)
	})
	return func() { _ = conn.Close() }, nil
}

func (p *Proxy) packetConn(ctx context.Context, k key) (net.PacketConn, error) {
	if k.host {
		return (&net.ListenConfig{}).ListenPacket(ctx, "udp4", k.address)
	}
	return p.options.Inside.ListenPacket(ctx, k.address)
}

func (p *Proxy) flow(ctx context.Context, t target, from net.PacketConn, client net.Addr) (net.Conn, error) {
	name := flowName{from, client.String()}
	if f := p.flows.find(name); f != nil {
		return f.to, nil
	}
	to, endpoint, err := p.dial(ctx, "udp", t, client)
	if err != nil {
		return nil, err
	}
	f := &flow{name: name, client: client, to: to, target: t, endpoint: endpoint}
	if p.flows.add(f) {
		p.reported.reportLimit(p.options.Log, "flows", client)
	}
	_ = to.SetReadDeadline(time.Now().Add(idle))
	p.group.Go(func() { p.answer(f) })
	return to, nil
}

// answer forwards an endpoint's packets until none has come for a while.
func (p *Proxy) answer(f *flow) {
	defer p.flows.remove(f)
	for {
		packet, done, err := p.flows.receive(f.to)
		if err != nil {
			return
		}
		_ = f.to.SetReadDeadline(time.Now().Add(idle))
		p.flows.use(f)
		_, err = f.name.at.WriteTo(packet, f.client)
		done()
		if err != nil {
			return
		}
	}
}
