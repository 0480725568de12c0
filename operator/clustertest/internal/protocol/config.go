// Package protocol is the test library's side of the process protocol that it
// speaks with the slipway-cluster program: JSON lines, events from the program,
// requests to it. The page docs/protocol.md is the contract.
//
// A [Config] goes into the file that the program is started with. A [Conn] then
// reads events in the background, and any number of goroutines may [Conn.Call].
package protocol

import (
	"encoding/json"
	"maps"
	"slices"
)

// Number is the protocol that this package speaks.
const Number = 2

// Config is the configuration of one cluster, as `slipway-cluster serve` reads it.
type Config struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	Dir      string `json:"dir"`
	Socket   string `json:"socket,omitempty"` // empty: none
	Features
}

// Features are what a cluster has, be it the program's first or a logical one.
type Features struct {
	Nodes          []Node            `json:"nodes,omitzero"`        // nil: one default node; empty: none
	Controllers    *bool             `json:"controllers,omitempty"` // nil: yes
	APIServerFlags []string          `json:"apiServerFlags,omitempty"`
	FeatureGates   map[string]bool   `json:"featureGates,omitempty"`
	RuntimeConfig  map[string]string `json:"runtimeConfig,omitempty"`
}

// RuntimeFlags returns the API server's flags that mean RuntimeConfig, for where there is no key for it.
func (f Features) RuntimeFlags() []string {
	var flags []string
	for _, version := range slices.Sorted(maps.Keys(f.RuntimeConfig)) {
		flags = append(flags, "--runtime-config="+version+"="+f.RuntimeConfig[version])
	}
	return flags
}

// Node is a simulated node.
type Node struct {
	Name     string            `json:"name"`
	Labels   map[string]string `json:"labels,omitempty"`
	Taints   []string          `json:"taints,omitempty"`   // key=value:Effect
	Capacity map[string]string `json:"capacity,omitempty"` // resource name → quantity
}

// event is one line from the program. Which fields are set depends on Name;
// events of other names are ignored.
type event struct {
	Name string `json:"event"`

	// hello
	Protocol   int    `json:"protocol"`
	Version    string `json:"version"`
	Kubernetes string `json:"kubernetes"`

	// ready
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`

	// failed, and a reply that reports a failure
	Component string `json:"component"`
	Error     string `json:"error"`
	Hint      string `json:"hint"`

	// reply
	ID     int64           `json:"id"`
	Result json.RawMessage `json:"result"`
}

// request is one line to the program.
type request struct {
	ID     int64  `json:"id"`
	Method string `json:"method"`
	Params any    `json:"params,omitempty"`
}
