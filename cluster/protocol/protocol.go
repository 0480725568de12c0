// Package protocol is the Go side of the process protocol that `slipway` and
// `slipway-cluster` speak: one JSON object per line, events one way, requests the
// other. The contract is docs/inside/protocol.md.
//
// A program publishes its events to a [Log], which keeps them, so that a client that
// connects late still gets the whole story. [Serve] speaks the protocol on one
// connection, be it stdin and stdout or a socket:
//
//	log := protocol.NewLog()
//	go protocol.Serve(ctx, os.Stdin, os.Stdout, log, methods, stop)
//	log.Publish(protocol.Hello{…})
//
// The package knows nothing of clusters.
package protocol

// Number is the version of the protocol. Another number is refused.
const Number = 3

// The components that events and the status name.
const (
	Configuration = "configuration" // the configuration and the state folder; only in failed
	Etcd          = "etcd"
	APIServer     = "apiserver"
	Controllers   = "controllers"
	Scheduler     = "scheduler"
	Nodes         = "nodes"
)

// State is where a component of the cluster is in its life.
type State string

// The states of a component.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateStopping State = "stopping"
	StateStopped  State = "stopped"
)
