package machine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// DialContext connects to an address in the machine's network, over TCP or UDP.
func (m *Machine) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := m.dial(ctx, network, address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%s: %w", address, err)}
	}
	return conn, nil
}

func (m *Machine) dial(ctx context.Context, network, address string) (net.Conn, error) {
	fd, err := m.conn.Ask(ctx, wire.Request{Socket: &wire.Socket{Network: network[:3] + "4", Address: address}})
	if err != nil {
		return nil, err
	}
	return fdpass.Connected(ctx, fd)
}

// Listen listens for TCP connections at an address in the machine's network. The address need not exist yet.
func (m *Machine) Listen(ctx context.Context, address string) (net.Listener, error) {
	f, err := m.listening(ctx, "tcp4", address)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return net.FileListener(f)
}

// ListenPacket receives UDP packets at an address in the machine's network. The address need not exist yet.
func (m *Machine) ListenPacket(ctx context.Context, address string) (net.PacketConn, error) {
	f, err := m.listening(ctx, "udp4", address)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return net.FilePacketConn(f)
}

func (m *Machine) listening(ctx context.Context, network, address string) (*os.File, error) {
	fd, err := m.conn.Ask(ctx, wire.Request{Socket: &wire.Socket{Network: network, Address: address, Listen: true}})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return os.NewFile(uintptr(fd), address), nil
}

// ListenOutside accepts the TCP connections that nodes and pods make to addresses outside the ranges keep. It listens
// at address in the machine's network. A connection's local address is its original destination. The error is a
// [NoWayOut] if the kernel cannot redirect connections.
func (m *Machine) ListenOutside(ctx context.Context, address string, keep []netip.Prefix) (net.Listener, error) {
	fd, err := m.conn.Ask(ctx, wire.Request{WayOut: &wire.WayOut{Address: address, Keep: keep}})
	if lacks, ok := errors.AsType[*fdpass.MissingError](err); ok {
		return nil, &NoWayOut{lacks.Part, lacks.Err}
	}
	if err != nil {
		return nil, fmt.Errorf("listen for the outside: %w", err)
	}
	f := os.NewFile(uintptr(fd), address)
	defer f.Close()
	return net.FileListener(f)
}
