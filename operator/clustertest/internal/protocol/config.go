// Package protocol is the test library's side of the process protocol that it
// speaks with the slipway-cluster program: JSON lines, events from the program,
// requests to it. The page docs/inside/protocol.md is the contract.
//
// A [Config] goes into the file that the program is started with. A [Conn] then
// reads events in the background, and any number of goroutines may [Conn.Call].
package protocol

import (
	"maps"
	"slices"
)

// Number is the protocol that this package speaks.
const Number = 3

// Config is what the test library says in the configuration of a cluster, as `slipway-cluster serve` reads it.
type Config struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	Dir      string `json:"dir"`
	Socket   string `json:"socket,omitempty"` // empty: the protocol is served on no socket
	Spec
}

// Spec is what tests may ask of a cluster. The zero value of a field leaves it to the program, and so do the options
// that it lacks.
type Spec struct {
	Nodes           []Node   `json:"nodes,omitzero"` // nil: one; empty: none
	NodeKind        NodeKind `json:"nodeKind,omitempty"`
	Controllers     *bool    `json:"controllers,omitempty"`     // run controllers, scheduler and nodes; nil: true
	ControllerNames []string `json:"controllerNames,omitempty"` // those that run, as kube-controller-manager's --controllers; empty: all
	// SimulatedPods is what becomes of simulated pods whose annotations do not say it: pending, running or complete;
	// empty: complete. SimulatedJobs is the same for the pods of Jobs; empty: as SimulatedPods.
	SimulatedPods  string            `json:"simulatedPods,omitempty"`
	SimulatedJobs  string            `json:"simulatedJobs,omitempty"`
	FeatureGates   map[string]bool   `json:"featureGates,omitempty"`
	RuntimeConfig  map[string]string `json:"runtimeConfig,omitempty"` // group, version or resource → true or false
	APIServerFlags []string          `json:"apiServerFlags,omitempty"`
}

// NodeKind is the kind of the nodes in [Spec.Nodes].
type NodeKind string

// The kinds of nodes. Simulated nodes run no processes; real nodes run the kubelet, and containers from images.
const (
	DefaultNodes   NodeKind = "" // simulated; without a list of nodes a real node joins them
	SimulatedNodes NodeKind = "simulated"
	RealNodes      NodeKind = "real"
	PlainNodes     NodeKind = "plain" // real, and the containers are plain processes of this machine
)

// RuntimeFlags returns the API server's flags that mean RuntimeConfig, for where there is no key for it.
func (s Spec) RuntimeFlags() []string {
	var flags []string
	for _, version := range slices.Sorted(maps.Keys(s.RuntimeConfig)) {
		flags = append(flags, "--runtime-config="+version+"="+s.RuntimeConfig[version])
	}
	return flags
}

// Node is a node.
type Node struct {
	Name     string            `json:"name"`
	Labels   map[string]string `json:"labels,omitempty"`
	Taints   []string          `json:"taints,omitempty"`   // key=value:Effect
	Capacity map[string]string `json:"capacity,omitempty"` // resource name → quantity
}
