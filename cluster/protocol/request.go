package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Request is one line from a client.
type Request struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// ErrRequest marks a line that is not a request.
var ErrRequest = errors.New("invalid request")

// ParseRequest reads one line. The ID is set as far as it could be read, so that
// even an error can be answered. Errors are [ErrRequest].
func ParseRequest(line []byte) (Request, error) {
	var r Request
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	if r.Method == "" {
		return r, fmt.Errorf("%w: no method", ErrRequest)
	}
	return r, nil
}

// Reply answers the request with the same ID.
type Reply struct {
	ID     int64  `json:"id"`
	Error  string `json:"error,omitempty"`
	Result any    `json:"result,omitempty"`
}

// A Method answers one kind of request. Then, which may be nil, runs once the
// reply is on its way: that is where a program stops itself.
type Method func(params json.RawMessage) (result any, then func(), err error)

// Answer makes a method of a function, whose parameters are decoded for it; absent
// ones are zero, unknown ones an [ErrRequest], because to ignore what was
// asked for would be worse than to refuse it.
func Answer[Params, Result any](f func(Params) (Result, error)) Method {
	return func(params json.RawMessage) (any, func(), error) {
		var p Params
		if len(params) > 0 {
			decoder := json.NewDecoder(bytes.NewReader(params))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&p); err != nil {
				return nil, nil, fmt.Errorf("%w: params: %w", ErrRequest, err)
			}
		}
		result, err := f(p)
		return result, nil, err
	}
}

// Methods are the requests that a program answers, by name.
type Methods map[string]Method

// Reset are the parameters of the reset request.
type Reset struct {
	Logical string `json:"logical,omitempty"` // empty: the main cluster
}

// ResetDone is the result of the reset request.
type ResetDone struct {
	Removed  int     `json:"removed"`
	Restored int     `json:"restored"`
	TookMs   float64 `json:"tookMs"`
	Kept     bool    `json:"kept"`               // it led back to what keep kept
	Revision int64   `json:"revision,omitempty"` // of the store, after it
}

// Keep are the parameters of the keep request.
type Keep struct {
	Logical string `json:"logical,omitempty"` // empty: the main cluster
}

// KeepDone is the result of the keep request.
type KeepDone struct {
	Objects int     `json:"objects"`
	TookMs  float64 `json:"tookMs"`
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

// Empty is the result {}.
type Empty struct{}

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

// Component is the state of one part of the cluster.
type Component struct {
	Name    string `json:"name"`
	State   State  `json:"state"`
	Message string `json:"message,omitempty"`
}

func (m Methods) answer(line []byte) (Reply, func()) {
	r, err := ParseRequest(line)
	if err != nil {
		return Reply{ID: r.ID, Error: err.Error()}, nil
	}
	method, ok := m[r.Method]
	if !ok {
		return Reply{ID: r.ID, Error: fmt.Sprintf("unknown method %q", r.Method)}, nil
	}
	result, then, err := method(r.Params)
	if err != nil {
		return Reply{ID: r.ID, Error: err.Error()}, then
	}
	return Reply{ID: r.ID, Result: result}, then
}
