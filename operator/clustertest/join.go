package clustertest

import (
	"context"
	"errors"
	"net"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/protocol"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/session"
)

// sharedVariable names the socket of a running program, in which [Start] starts a logical cluster
// instead of one more program.
const sharedVariable = "SLIPWAY_SHARED_CLUSTER"

// sharable tells whether a cluster with these settings can be one of several in a program.
func (s settings) sharable() bool { return len(s.spec.FeatureGates) == 0 }

// join starts a cluster in the program that serves socket. It ends with our connection at the latest, as that ends
// with our process.
func join(ctx context.Context, socket string, s settings) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var dialer net.Dialer
	pipe, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, &fault.Error{What: "no shared cluster answers at the socket in " + sharedVariable, Where: socket, Err: err,
			Hint: "use the socket of a running slipway-cluster, or unset the variable: then each package starts its own cluster", Next: "slipway test --shared"}
	}
	dir, release, err := session.Claim()
	if err != nil {
		return nil, errors.Join(err, pipe.Close())
	}
	leave := func() error { return errors.Join(pipe.Close(), release()) }
	conn := protocol.NewConn(pipe, pipe)
	if _, err := conn.Ready(ctx); err != nil {
		return nil, errors.Join(&fault.Error{What: "the shared cluster does not work", Where: socket, Err: err}, leave())
	}
	c, err := logicalCluster(ctx, program{conn: conn, dir: dir, tied: true}, s)
	if err != nil {
		return nil, errors.Join(err, leave())
	}
	remove := c.end
	c.end = func() error { return errors.Join(remove(), leave()) }
	return c, nil
}
