package services

import (
	"context"
	"net"
	"sync"
	"time"
)

const (
	// idle is how long a client of UDP keeps its endpoint without a packet.
	idle = 30 * time.Second
	// maxPacket is the largest packet of UDP.
	maxPacket = 64 << 10
)

// listenUDP gives each client a connection of its own to an endpoint, by which answers find back.
func (p *Proxy) listenUDP(ctx context.Context, k key, t target) (func(), error) {
	conn, err := p.packetConn(ctx, k)
	if err != nil {
		return nil, err
	}
	f := &flows{proxy: p, target: t, from: conn, all: map[string]net.Conn{}}
	p.group.Go(func() { f.run(ctx) })
	return func() { _ = conn.Close() }, nil
}

func (p *Proxy) packetConn(ctx context.Context, k key) (net.PacketConn, error) {
	if k.host {
		return (&net.ListenConfig{}).ListenPacket(ctx, "udp4", k.address)
	}
	return p.options.Inside.ListenPacket(ctx, k.address)
}

// flows are the clients of one port.
type flows struct {
	proxy  *Proxy
	target target
	from   net.PacketConn

	mu  sync.Mutex
	all map[string]net.Conn // by the client's address
}

func (f *flows) run(ctx context.Context) {
	defer f.closeAll()
	buffer := make([]byte, maxPacket)
	for {
		n, client, err := f.from.ReadFrom(buffer)
		if err != nil {
			return
		}
		to, err := f.to(ctx, client)
		if err != nil {
			continue // as lost as packets get
		}
		_ = to.SetReadDeadline(time.Now().Add(idle))
		_, _ = to.Write(buffer[:n])
	}
}

// to is the client's connection.
func (f *flows) to(ctx context.Context, client net.Addr) (net.Conn, error) {
	name := client.String()
	f.mu.Lock()
	to := f.all[name]
	f.mu.Unlock()
	if to != nil {
		return to, nil
	}
	to, err := f.proxy.dial(ctx, "udp", f.target, client)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.all[name] = to
	f.mu.Unlock()
	f.proxy.group.Go(func() { f.answer(name, client, to) })
	return to, nil
}

// answer passes answers back until none has come for a while.
func (f *flows) answer(name string, client net.Addr, to net.Conn) {
	defer func() {
		f.mu.Lock()
		delete(f.all, name)
		f.mu.Unlock()
		_ = to.Close()
	}()
	buffer := make([]byte, maxPacket)
	for {
		n, err := to.Read(buffer)
		if err != nil {
			return
		}
		_ = to.SetReadDeadline(time.Now().Add(idle))
		if _, err := f.from.WriteTo(buffer[:n], client); err != nil {
			return
		}
	}
}

func (f *flows) closeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, to := range f.all {
		_ = to.Close()
	}
}
