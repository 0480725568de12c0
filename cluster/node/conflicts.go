package node

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Conflicts is how long to go on with a change of a Node that others change at the same time: five seconds. Controllers
// write a Node's taints, conditions and heartbeat at once when it comes or goes, and on a busy machine four tries may
// all be late.
func Conflicts() wait.Backoff {
	return wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 10}
}
