package egress

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

// Way forwards connections of pods to the network.
type Way struct {
	policy  Policy
	log     *slog.Logger
	limit   *connlimit.Limit
	lookup  func(ctx context.Context, network, name string) ([]netip.Addr, error)
	refused func(client net.Addr, to netip.AddrPort, why error)

	crowd, trouble sync.Once // logged once
}

// New returns a Way. refused receives each connection that the policy refuses. It must not block, and may be nil.
func New(p Policy, log *slog.Logger, refused func(client net.Addr, to netip.AddrPort, why error)) *Way {
	conns := share()
	if refused == nil {
		refused = func(net.Addr, netip.AddrPort, error) {}
	}
	return &Way{
		policy: p, log: log, limit: connlimit.NewLimit(conns, conns/ofOne), lookup: (&net.Resolver{PreferGo: true}).LookupNetIP, refused: refused,
	}
}

const (
	// mostConns bounds the open connections, given enough open files. fewest is its minimum.
	mostConns, fewest = 2048, 64
	// ofOne: one pod can have a quarter of the connections.
	ofOne = 4
	// A busy connection takes six open files. All may take an eighth of the process's.
	filesOfConn = 48
	// dialLimit bounds a connection attempt.
	dialLimit = 15 * time.Second
)

// share returns the limit of connections, from the process's limit of open files.
func share() int {
	files, known := connlimit.OpenFiles()
	if !known {
		return mostConns
	}
	return int(min(max(fewest, files/filesOfConn), mostConns))
}

// Serve forwards each connection of listener to the connection's own local address, until listener is closed. It
// returns when all connections have ended. They end with ctx.
func (w *Way) Serve(ctx context.Context, listener net.Listener) {
	var group sync.WaitGroup
	defer group.Wait()
	connlimit.Connections(listener, func(conn net.Conn) {
		leave, ok := w.limit.Enter(conn.RemoteAddr())
		if !ok {
			w.crowd.Do(func() {
				w.log.Warn("too many connections to the network: new ones are reset; this is logged once", "client", conn.RemoteAddr())
			})
			connlimit.Reset(conn)
			return
		}
		group.Go(func() {
			defer leave()
			w.pass(ctx, conn)
		})
	}, func(err error) {
		w.trouble.Do(func() {
			w.log.Warn("connections to the network must wait; this is logged once", "error", err)
		})
	})
}

// pass forwards a connection, or resets it if the destination is refused or fails.
func (w *Way) pass(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	to, err := w.dial(ctx, conn)
	if err != nil {
		connlimit.Reset(conn)
		return
	}
	defer to.Close()
	connlimit.Join(ctx, conn, to)
}

func (w *Way) dial(ctx context.Context, conn net.Conn) (net.Conn, error) {
	local, ok := conn.LocalAddr().(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("%w: %v", ErrRefused, conn.LocalAddr())
	}
	to := local.AddrPort()
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port()) // IPv4-mapped for a dual-stack listener
	var refusal error
	dialer := net.Dialer{Timeout: dialLimit, Control: func(_, address string, _ syscall.RawConn) error {
		refusal = w.policy.CheckDial(address)
		return refusal
	}}
	there, err := dialer.DialContext(ctx, "tcp", to.String())
	if refusal != nil {
		w.refused(conn.RemoteAddr(), to, refusal)
	}
	return there, err
}

// mostAddresses bounds the addresses in an answer.
const mostAddresses = 32

// Lookup returns a name's IPv4 addresses by this machine's resolver, without those that the policy refuses. If the name
// does not exist, the error is a [net.DNSError] with IsNotFound.
func (w *Way) Lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	found, err := w.lookup(ctx, "ip", name)
	if err != nil {
		return nil, err
	}
	check := w.policy.now()
	var addresses []netip.Addr
	for _, ip := range found {
		if ip = ip.Unmap(); len(addresses) < mostAddresses && check(ip) == nil {
			addresses = append(addresses, ip)
		}
	}
	return addresses, nil
}
