//go:build !linux

package machine

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"runtime"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
	"github.com/slipway-dev/slipway/cluster/realnode/removetree"
)

// Machine does not exist on this system.
type Machine struct{}

// Start always fails with a [Forbidden].
func Start(context.Context, Options) (*Machine, error) {
	return nil, &Forbidden{Err: fmt.Errorf("isolated nodes need Linux, and this is %s", runtime.GOOS)}
}

// RemoveAll removes a folder in a machine's state, or the state itself.
func RemoveAll(dir, _ string) error { return removetree.All(dir) }

// IDs is never called, like all other methods: there is no machine.
func (m *Machine) IDs() bool { return false }

// Unlimited is never called.
func (m *Machine) Unlimited() string { return "" }

// Limits is never called.
func (m *Machine) Limits() bool { return false }

// Stop is never called.
func (m *Machine) Stop() {}

// Status is never called.
func (m *Machine) Status() string { return "" }

// Ended is never called.
func (m *Machine) Ended() <-chan struct{} { return nil }

// OwnNetwork is never called.
func (m *Machine) OwnNetwork() bool { return false }

// Place always fails.
func (m *Machine) Place(string) (*nodeconfig.Plain, error) { return nil, ErrForbidden }

// StartNode always fails.
func (m *Machine) StartNode(context.Context, NodeOptions) (*Node, error) { return nil, ErrForbidden }

// KillNode does nothing.
func (m *Machine) KillNode(context.Context, string) error { return nil }

// DialContext always fails.
func (m *Machine) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, ErrForbidden
}

// Listen always fails.
func (m *Machine) Listen(context.Context, string) (net.Listener, error) { return nil, ErrForbidden }

// ListenPacket always fails.
func (m *Machine) ListenPacket(context.Context, string) (net.PacketConn, error) {
	return nil, ErrForbidden
}

// ListenOutside always fails.
func (m *Machine) ListenOutside(context.Context, string, []netip.Prefix) (net.Listener, error) {
	return nil, ErrForbidden
}
