package protocol

import "encoding/json"

// EventName says which kind an [Event] is of.
type EventName string

// The events that this package knows; others are to be ignored.
const (
	EventHello    EventName = "hello"
	EventProgress EventName = "progress"
	EventNote     EventName = "note"
	EventReady    EventName = "ready"
	EventFailed   EventName = "failed"
	EventStopped  EventName = "stopped"
	EventReply    EventName = "reply"
	EventRequest  EventName = "request"

	EventBegun     EventName = "begun"     // a request through an inspected door
	EventStruck    EventName = "struck"    // a fault was committed
	EventDelivered EventName = "delivered" // an event of a watch
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
}

// Request is one line to the program.
type Request struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Reset are the parameters of the reset request.
type Reset struct {
	Logical string `json:"logical,omitempty"` // empty: the main cluster
}

// Keep are the parameters of the keep request.
type Keep struct {
	Logical string `json:"logical,omitempty"` // empty: the main cluster
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

// LogicalCluster is a logical cluster beside the main one.
type LogicalCluster struct {
	Name       string `json:"name"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
}

// LogicalAdded is the result of the addLogical request.
type LogicalAdded struct {
	LogicalCluster
	ElapsedMs int64 `json:"elapsedMs"`
}

// RemoveLogical are the parameters of the removeLogical request.
type RemoveLogical struct {
	Name string `json:"name"`
}
