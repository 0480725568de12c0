// Package protocol is slipway's side of the process protocol that it speaks with
// the slipway-cluster program: JSON lines, events from the program, requests to
// it. The page docs/protocol.md is the contract; the program has an
// implementation of its own.
//
// A [Config] goes into the file that the program is started with. A [Conn] then
// reads [Event]s and sends requests, over the program's socket or over its
// stdin and stdout alike.
package protocol

import (
	"encoding/json"
	"fmt"
)

// Number is the protocol that this package speaks.
const Number = 2

// Config is the configuration of one cluster, as `slipway-cluster serve` reads it.
type Config struct {
	Protocol     int    `json:"protocol"`
	Name         string `json:"name"`
	Dir          string `json:"dir"`
	Socket       string `json:"socket"`                 // empty: the protocol is served on no socket
	Port         int    `json:"port"`                   // 0 picks a free one
	RegistryPort int    `json:"registryPort,omitempty"` // if it can be had; 0 picks a free one
	Durable      bool   `json:"durable"`
	Nodes        []Node `json:"nodes,omitzero"`        // nil: one default node; empty: none
	NodeProgram  string `json:"nodeProgram,omitempty"` // path of slipway-node; empty: nodes are simulated
	PlainNodes   bool   `json:"plainNodes,omitempty"`  // their pods are plain processes, also where they could be isolated
	// SimulateMissingImages adds a simulated node to the real ones, for pods whose images are not in the registry.
	SimulateMissingImages bool `json:"simulateMissingImages,omitempty"`
	// Join has a real node join the simulated ones when an image comes into the registry; nil: none does.
	Join *Join `json:"join,omitempty"`
	// Registries are those that real nodes may pull from although their addresses are this machine's or private: host or host:port.
	Registries     []string          `json:"registries,omitempty"`
	Controllers    *bool             `json:"controllers,omitempty"`
	FeatureGates   map[string]bool   `json:"featureGates,omitempty"`
	RuntimeConfig  map[string]string `json:"runtimeConfig,omitempty"` // group, version or resource → true or false
	APIServerFlags []string          `json:"apiServerFlags,omitempty"`
}

// Join says what a real node that joins is made of.
type Join struct {
	Program string `json:"program,omitempty"` // the path at which slipway-node is, or will be once it is built; may be empty
}

// Node is a node.
type Node struct {
	Name     string            `json:"name"`
	Labels   map[string]string `json:"labels,omitempty"`
	Taints   []string          `json:"taints,omitempty"`   // key=value:Effect
	Capacity map[string]string `json:"capacity,omitempty"` // resource name → quantity
}

// EventName says which kind an [Event] is of.
type EventName string

// The events that this package knows; others are to be ignored.
const (
	Hello    EventName = "hello"
	Progress EventName = "progress"
	Note     EventName = "note"
	Ready    EventName = "ready"
	Failed   EventName = "failed"
	Stopped  EventName = "stopped"
	Reply    EventName = "reply"
)

// ComponentState is what a component of the cluster is doing.
type ComponentState string

// The states of a component.
const (
	ComponentStarting ComponentState = "starting"
	ComponentReady    ComponentState = "ready"
	ComponentStopping ComponentState = "stopping"
	ComponentStopped  ComponentState = "stopped"
)

// Event is one line from the program. Which fields are set depends on Name.
type Event struct {
	Name EventName `json:"event"`

	// Hello.
	Protocol   int    `json:"protocol"`
	Version    string `json:"version"`
	Kubernetes string `json:"kubernetes"`
	PID        int    `json:"pid"`

	// Progress; Component also names what failed, and what a Note is about.
	Component string         `json:"component"`
	State     ComponentState `json:"state"`
	ElapsedMs int64          `json:"elapsedMs"`

	// Note.
	Text string `json:"text"`

	// Ready.
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
	Registry   string `json:"registry"` // host:port

	// Failed, and a Reply that reports a failure.
	Error string `json:"error"`
	Hint  string `json:"hint"`

	// Stopped.
	Reason string `json:"reason"`

	// Reply.
	ID     int64           `json:"id"`
	Result json.RawMessage `json:"result"`
}

// ParseEvent reads one line of the program's.
func ParseEvent(line []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, fmt.Errorf("not a line of the cluster protocol: %.80q: %w", line, err)
	}
	if e.Name == "" {
		return Event{}, fmt.Errorf("not a line of the cluster protocol: %.80q names no event", line)
	}
	return e, nil
}

// Component is a part of the cluster, as the status request tells it.
type Component struct {
	Name    string         `json:"name"`
	State   ComponentState `json:"state"`
	Message string         `json:"message,omitempty"`
}

// Status is the result of the status request.
type Status struct {
	Ready      bool        `json:"ready"`
	Server     string      `json:"server"`
	Kubeconfig string      `json:"kubeconfig"`
	Registry   string      `json:"registry"` // host:port
	Kubernetes string      `json:"kubernetes"`
	PID        int         `json:"pid"`
	UptimeMs   int64       `json:"uptimeMs"`
	RSSBytes   int64       `json:"rssBytes"`
	Nodes      Nodes       `json:"nodes"`
	Components []Component `json:"components"`
	Logical    []Logical   `json:"logical"`
}

// Nodes says of which kinds a cluster's nodes are.
type Nodes struct {
	Simulated int    `json:"simulated"`
	Real      int    `json:"real"`
	Joins     bool   `json:"joins"`             // a real node joins when an image comes
	Problem   string `json:"problem,omitempty"` // why none has, although one came
}

// Joined is the result of the joinNode request.
type Joined struct {
	Name    string `json:"name"`    // of the real node
	Already bool   `json:"already"` // it was there
}

// Logical is a logical cluster beside the main one.
type Logical struct {
	Name       string `json:"name"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
}

// Reset is the result of the reset request.
type Reset struct {
	Removed  int     `json:"removed"`  // objects that are gone
	Restored int     `json:"restored"` // objects that are as they were
	TookMs   float64 `json:"tookMs"`
	Kept     bool    `json:"kept"` // it led back to what was kept, not to the start
}

// Kept is the result of the keep request.
type Kept struct {
	Objects int     `json:"objects"` // that resets lead back to
	TookMs  float64 `json:"tookMs"`
}

// Version is what `slipway-cluster version` prints.
type Version struct {
	Protocol   int    `json:"protocol"`
	Version    string `json:"version"`
	Kubernetes string `json:"kubernetes"`
}
