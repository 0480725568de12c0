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

// Way is the way that pods have to the network.
type Way struct {
	policy  Policy
	log     *slog.Logger
	limit   *connlimit.Limit
	lookup  func(ctx context.Context, network, name string) ([]netip.Addr, error)
	refused func(client net.Addr, to netip.AddrPort, why error)

	crowd, trouble sync.Once // is logged once
}

// New returns a way. Refused is called for each connection that the policy refuses, and returns at once; it may be nil.
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
	// mostConns is how many connections there are at a time on a machine with open files enough, fewest on any.
	mostConns, fewest = 2048, 64
	// ofOne is the part of all that one pod can have.
	ofOne = 4
	// A connection takes six open files while it is busy; an eighth of all may go to these.
	filesOfConn = 48
	// dialLimit bounds the wait for the other side.
	dialLimit = 15 * time.Second
)

// share is how many connections the process's open files are enough for.
func share() int {
	files, known := connlimit.OpenFiles()
	if !known {
		return mostConns
	}
	return int(min(max(fewest, files/filesOfConn), mostConns))
}

// Serve joins each connection that arrives to one with the address that it is for, which is its own address here, until
// listener is closed. It returns when all of them have ended, which they do with ctx.
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

// pass joins a connection to the one that it is for, or resets it.
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
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port()) // the kernel's form for a listener of both families
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

// mostAddresses bounds an answer, whatever servers say.
const mostAddresses = 32

// Lookup finds the addresses of IPv4 that a name has, as a program of this machine would, and leaves out those that
// pods are not connected to. The error is a [net.DNSError], which says that there is no such name by IsNotFound.
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
