package clusterctl

import (
	"cmp"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
	"github.com/slipway-dev/slipway/internal/report"
)

// Spec is a cluster as its user asks for it.
type Spec = clusterspec.Spec

// Options say what cluster to start, and how. The zero value is a good one: a free port, throw-away data, controllers
// and one node, which is simulated.
//
// Where Spec asks for nothing, a cluster that has kept its data, or that died, is started with what an earlier start
// asked for. [clusterspec.Options] has the rules.
type Options struct {
	Spec
	// Whole says that Spec is all that the cluster is to be, as a file does: of an earlier start only the ports and the
	// durability count.
	Whole bool

	// Record keeps a record of what happens in the cluster (Start only).
	Record bool
	// NoContext leaves the user's kubeconfig alone (Start only; Tie never touches it).
	NoContext bool
	// Socket serves the protocol to other processes as well (Tie only; Start always does).
	Socket bool
	// Timeout bounds the time to readiness, a build of the program not included; 0: one minute.
	Timeout time.Duration
}

// readyTime is how long a cluster may take to become ready: it needs about a
// second, and a busy machine with a cold disk several times that.
const readyTime = time.Minute

func (o Options) timeout() time.Duration { return cmp.Or(o.Timeout, readyTime) }

// check refuses what no cluster can be.
func (o Options) check() error {
	if o.Timeout < 0 {
		return &report.Error{What: "the timeout is negative", Where: "--timeout", Hint: "use a duration like 30s or 2m"}
	}
	return nil
}
