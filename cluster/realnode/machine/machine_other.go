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

// Machine cannot be had here.
type Machine struct{}

// Start says that there is none.
func Start(context.Context, Options) (*Machine, error) {
	return nil, &Forbidden{Err: fmt.Errorf("isolated nodes need Linux, and this is %s", runtime.GOOS)}
}

// RemoveAll removes a folder in a machine's state, or all of it.
func RemoveAll(dir, _ string) error { return removetree.All(dir) }

// IDs is never called, as are the other methods.
func (m *Machine) IDs() bool { return false }

// Unlimited says nothing, like Limits.
func (m *Machine) Unlimited() string { return "" }

// Limits is never called.
func (m *Machine) Limits() bool { return false }

// Stop does nothing.
func (m *Machine) Stop() {}

// Status says nothing.
func (m *Machine) Status() string { return "" }

// Ended never ends.
func (m *Machine) Ended() <-chan struct{} { return nil }

// OwnNetwork is never called.
func (m *Machine) OwnNetwork() bool { return false }

// Place fails.
func (m *Machine) Place(string) (*nodeconfig.Plain, error) { return nil, ErrForbidden }

// StartNode fails.
func (m *Machine) StartNode(context.Context, NodeOptions) (*Node, error) { return nil, ErrForbidden }

// KillNode does nothing.
func (m *Machine) KillNode(context.Context, string) error { return nil }

// DialContext fails.
func (m *Machine) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, ErrForbidden
}

// Listen fails.
func (m *Machine) Listen(context.Context, string) (net.Listener, error) { return nil, ErrForbidden }

// ListenPacket fails.
func (m *Machine) ListenPacket(context.Context, string) (net.PacketConn, error) {
	return nil, ErrForbidden
}

// ListenOutside fails.
func (m *Machine) ListenOutside(context.Context, string, []netip.Prefix) (net.Listener, error) {
	return nil, ErrForbidden
}
