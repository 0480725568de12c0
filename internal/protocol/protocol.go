// Package protocol is slipway's side of the process protocol that it speaks with
// the slipway-cluster program: JSON lines, events from the program, requests to
// it. The page docs/inside/protocol.md is the contract; the program has an
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
const Number = 3

// Config is the configuration of one cluster, as `slipway-cluster serve` reads it.
type Config struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	Dir      string `json:"dir"`
	Socket   string `json:"socket,omitempty"` // empty: the protocol is served on no socket
	// NodeProgram is the path at which slipway-node lies, or will lie once it is built. Real and plain nodes need it.
	NodeProgram string `json:"nodeProgram,omitempty"`
	// Registries are those that real nodes may pull from although their addresses are this machine's or private: host
	// or host:port.
	Registries []string `json:"registries,omitempty"`
	// Mirrors are those that real nodes ask in place of registries: by a registry's full name, host or host:port, the
	// mirror's, with the path below which it has that registry's repositories. Nodes may pull from them wherever they
	// are.
	Mirrors map[string]string `json:"mirrors,omitempty"`
	// RecordBytes bounds the record of what happens in the cluster; 0: there is none.
	RecordBytes int64 `json:"recordBytes,omitempty"`
	Spec
}

// Spec is a cluster as its user asks for it. The zero value of a field leaves it to the program.
type Spec struct {
	Port         int      `json:"port,omitempty"`         // of the API server; 0 picks a free one
	RegistryPort int      `json:"registryPort,omitempty"` // of the image registry, if it can be had; 0 picks a free one
	Durable      bool     `json:"durable,omitempty"`      // keep the data
	Nodes        []Node   `json:"nodes,omitzero"`         // nil: one; empty: none
	NodeKind     NodeKind `json:"nodeKind,omitempty"`
	// IsolatedOnly has no plain nodes stand in for real ones where the system forbids isolated ones: the start fails.
	IsolatedOnly bool `json:"isolatedOnly,omitempty"`
	// SimulateMissingImages adds a simulated node to the real ones, for pods whose images are not in the registry; nil:
	// false.
	SimulateMissingImages *bool `json:"simulateMissingImages,omitempty"`
	// Egress lets the pods of isolated real nodes reach the network through the program; nil: false.
	Egress *bool `json:"egress,omitempty"`
	// HostPorts are the TCP and UDP ports of this machine's loopback that an EndpointSlice may lead the pods of
	// isolated real nodes to.
	HostPorts       []int    `json:"hostPorts,omitempty"`
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
	DefaultNodes   NodeKind = "" // simulated; without a list of nodes a real node joins them, see [Spec.Joins]
	SimulatedNodes NodeKind = "simulated"
	RealNodes      NodeKind = "real"
	PlainNodes     NodeKind = "plain" // real, and the containers are plain processes of this machine
)

// RunContainers reports whether nodes of the kind run containers.
func (k NodeKind) RunContainers() bool { return k == RealNodes || k == PlainNodes }

// RunControllers reports whether controllers, scheduler and nodes run.
func (s Spec) RunControllers() bool { return s.Controllers == nil || *s.Controllers }

// Joins reports whether a real node joins the simulated ones when an image comes: only where the user leaves the nodes
// to the program.
func (s Spec) Joins() bool { return s.NodeKind == DefaultNodes && s.Nodes == nil && s.RunControllers() }

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
	EventHello     EventName = "hello"
	EventProgress  EventName = "progress"
	EventNote      EventName = "note"
	EventReady     EventName = "ready"
	EventFailed    EventName = "failed"
	EventStopped   EventName = "stopped"
	EventReply     EventName = "reply"
	EventRequest   EventName = "request"
	EventBegun     EventName = "begun"     // a request through an inspected door
	EventStruck    EventName = "struck"    // a fault was committed
	EventDelivered EventName = "delivered" // an event of a watch
	EventChanged   EventName = "changed"   // a write to the store
	EventRecorded  EventName = "recorded"  // an entry of the record
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

// Event is one line from the program. Which fields are set depends on Name.
type Event struct {
	Name EventName `json:"event"`

	// Hello.
	Protocol   int    `json:"protocol,omitempty"`
	Version    string `json:"version,omitempty"`
	Kubernetes string `json:"kubernetes,omitempty"`
	PID        int    `json:"pid,omitempty"`

	// Progress; Component also names what failed, and what a Note is about.
	Component string `json:"component,omitempty"`
	State     State  `json:"state,omitempty"`
	ElapsedMs int64  `json:"elapsedMs,omitempty"`

	// Note.
	Text string `json:"text,omitempty"`

	// Ready.
	Server     string `json:"server,omitempty"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
	Registry   string `json:"registry,omitempty"` // host:port

	// Failed, and a Reply that reports a failure.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`

	// Stopped.
	Reason string `json:"reason,omitempty"`

	// Reply; ID is that of the request, and 0 for a line that was no request.
	ID     *int64          `json:"id,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`

	// Request; Version is that of the resource.
	Door            string  `json:"door,omitempty"`
	User            string  `json:"user,omitempty"`
	Verb            string  `json:"verb,omitempty"`
	Group           string  `json:"group,omitempty"`
	Resource        string  `json:"resource,omitempty"`
	Subresource     string  `json:"subresource,omitempty"`
	Namespace       string  `json:"namespace,omitempty"`
	ObjectName      string  `json:"name,omitempty"`
	Path            string  `json:"path,omitempty"`   // of what is no resource
	Status          int     `json:"status,omitempty"` // 0: the connection ended without an answer
	LatencyMs       float64 `json:"latencyMs,omitempty"`
	ResourceVersion string  `json:"resourceVersion,omitempty"`
	Missed          int     `json:"missed,omitempty"` // requests before this one that are not reported

	// Recorded.
	Entry *RecordEntry `json:"entry,omitempty"`
}

// Answers reports whether the event is the reply to a request.
func (e Event) Answers(id int64) bool { return e.Name == EventReply && e.ID != nil && *e.ID == id }

// Request is one line to the program.
type Request struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
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

// Component is a part of the cluster, as the status request reports it.
type Component struct {
	Name    string `json:"name"`
	State   State  `json:"state"`
	Message string `json:"message,omitempty"`
}

// Status is the result of the status request.
type Status struct {
	Ready      bool             `json:"ready"`
	Server     string           `json:"server"`
	Kubeconfig string           `json:"kubeconfig"`
	Registry   string           `json:"registry"` // host:port
	Kubernetes string           `json:"kubernetes"`
	PID        int              `json:"pid"`
	UptimeMs   int64            `json:"uptimeMs"`
	RSSBytes   int64            `json:"rssBytes,omitempty"` // resident memory, where it is known
	Nodes      NodeKinds        `json:"nodes"`
	Components []Component      `json:"components"`
	Logical    []LogicalCluster `json:"logical"`
	Addresses  []Address        `json:"addresses,omitempty"` // of Services and Ingresses on this machine
	// MoreAddresses is how many there are that Addresses leaves out.
	MoreAddresses int           `json:"moreAddresses,omitempty"`
	Record        *RecordStatus `json:"record,omitempty"` // of the main cluster; nil: it has none
}

// Address is where a Service of the type LoadBalancer, or an Ingress, answers on this machine.
type Address struct {
	Kind      string `json:"kind"` // Service or Ingress
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Protocol  string `json:"protocol,omitempty"` // of a Service's port: TCP, UDP or SCTP
	Port      int32  `json:"port"`               // that of the Service, or 80 or 443 of an Ingress
	At        string `json:"at"`                 // host:port, or the URL of an Ingress
	Problem   string `json:"problem,omitempty"`  // why nothing answers there
}

// NodeKinds reports about which kinds the main cluster's nodes are.
type NodeKinds struct {
	Simulated int    `json:"simulated"`
	Real      int    `json:"real"`
	Joins     bool   `json:"joins"`             // a real node joins when an image comes
	Problem   string `json:"problem,omitempty"` // why none has, although one came
	Egress    bool   `json:"egress,omitempty"`  // pods of real nodes reach the network through the program
	Plain     bool   `json:"plain,omitempty"`   // pods of real nodes have this machine's network
	Panics    int    `json:"panics,omitempty"`  // of real nodes' kubelets
}

// AddLogical are the parameters of the addLogical request.
type AddLogical struct {
	Name            string   `json:"name"`
	Nodes           []Node   `json:"nodes,omitzero"`            // as in a [Spec]
	Controllers     *bool    `json:"controllers,omitempty"`     // as in a [Spec]
	ControllerNames []string `json:"controllerNames,omitempty"` // as in a [Spec]
	SimulatedPods   string   `json:"simulatedPods,omitempty"`   // as in a [Spec]
	SimulatedJobs   string   `json:"simulatedJobs,omitempty"`
	APIServerFlags  []string `json:"apiServerFlags,omitempty"`
	Tied            bool     `json:"tied,omitempty"` // it ends with the connection that asked for it
}

// LogicalAdded is the result of the addLogical request.
type LogicalAdded struct {
	LogicalCluster
	ElapsedMs int64 `json:"elapsedMs"`
}

// LogicalCluster is a logical cluster beside the main one.
type LogicalCluster struct {
	Name       string `json:"name"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
}

// NodeOf are the parameters of the stopNode and startNode requests.
type NodeOf struct {
	Name    string `json:"name"`
	Logical string `json:"logical,omitempty"` // empty: the main cluster
}

// Prune are the parameters of the prune request.
type Prune struct {
	AgeMs  int64 `json:"ageMs,omitempty"` // how long images have been superseded, at least
	DryRun bool  `json:"dryRun,omitempty"`
}

// PruneDone is the result of the prune request.
type PruneDone struct {
	Images []PrunedImage `json:"images"`
	// MoreImages is how many there are that Images leaves out.
	MoreImages int          `json:"moreImages,omitempty"`
	Bytes      int64        `json:"bytes"`
	Skipped    []PrunedNode `json:"skipped,omitempty"` // nodes whose images stay
}

// PrunedImage is a superseded image.
type PrunedImage struct {
	Node   string `json:"node,omitempty"`   // empty: the registry
	Name   string `json:"name,omitempty"`   // empty: not known or, in the registry, what is left of pushes
	Digest string `json:"digest,omitempty"` // in the registry that of its manifest, on a node that of its configuration
	Bytes  int64  `json:"bytes"`
}

// PrunedNode is a node that could not be asked.
type PrunedNode struct {
	Node    string `json:"node"`
	Problem string `json:"problem"`
}

// JoinNode are the parameters of the joinNode request.
type JoinNode struct {
	Program string `json:"program,omitempty"` // the path of slipway-node; empty: that of the configuration
}

// NodeJoined is the result of the joinNode request.
type NodeJoined struct {
	Name    string `json:"name"`    // of the real node
	Already bool   `json:"already"` // it was there
}

// Reset are the parameters of the reset request.
type Reset struct {
	Logical string `json:"logical,omitempty"` // empty: the main cluster
}

// ResetDone is the result of the reset request.
type ResetDone struct {
	Removed  int     `json:"removed"`  // objects that are gone
	Restored int     `json:"restored"` // objects that are as they were
	TookMs   float64 `json:"tookMs"`
	Kept     bool    `json:"kept"`               // it led back to what was kept, not to the start
	Revision int64   `json:"revision,omitempty"` // of the store, after it
}

// Keep are the parameters of the keep request.
type Keep struct {
	Logical string `json:"logical,omitempty"` // empty: the main cluster
}

// KeepDone is the result of the keep request.
type KeepDone struct {
	Objects int     `json:"objects"` // that resets lead back to
	TookMs  float64 `json:"tookMs"`
}

// OpenDoor are the parameters of the openDoor request.
type OpenDoor struct {
	Logical   string   `json:"logical,omitempty"` // empty: the main cluster
	User      string   `json:"user"`
	Groups    []string `json:"groups"`
	Namespace string   `json:"namespace,omitempty"` // in which clients of the kubeconfig work
	Inspect   *Inspect `json:"inspect,omitempty"`   // absent: the door does not look into requests
}

// DoorOpened is the result of the openDoor request.
type DoorOpened struct {
	Name       string `json:"name"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
}

// CloseDoor are the parameters of the closeDoor request.
type CloseDoor struct {
	Name string `json:"name"`
}

// Version is what `slipway-cluster version` prints.
type Version struct {
	Protocol   int    `json:"protocol"`
	Version    string `json:"version"`
	Kubernetes string `json:"kubernetes"`
}
