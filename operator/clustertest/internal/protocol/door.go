package protocol

import "encoding/json"

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

// Inspect are the parameters of the openDoor request that make the door an inspected one.
type Inspect struct {
	Park   bool     `json:"park,omitempty"`   // until activateDoor its process meets only what was there at ready or keep
	Past   int64    `json:"past,omitempty"`   // a revision: until activateDoor lists that take any state show it, and watches nothing new
	PastOf []string `json:"pastOf,omitempty"` // GROUP/RESOURCE; absent: all
}

// Fault is what an inspected door does to a request, once, or until it is disarmed.
type Fault struct {
	Name     string       `json:"name"`
	Match    FaultMatch   `json:"match"`
	Skip     int          `json:"skip,omitempty"` // of the requests that match, how many pass before it
	Lasts    bool         `json:"lasts,omitempty"`
	Withhold bool         `json:"withhold,omitempty"`
	Answer   *FaultAnswer `json:"answer,omitempty"`
	Break    bool         `json:"break,omitempty"`
	Shut     bool         `json:"shut,omitempty"`
	Pause    bool         `json:"pause,omitempty"`
	Stall    bool         `json:"stall,omitempty"`
	Hold     bool         `json:"hold,omitempty"`
}

// FaultMatch says which request a fault is for.
type FaultMatch struct {
	Verb        string `json:"verb"`
	Group       string `json:"group,omitempty"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name,omitempty"` // also PREFIX*
}

// FaultAnswer is an answer in place of the server's.
type FaultAnswer struct {
	Status     int    `json:"status"`
	Reason     string `json:"reason"`
	RetryAfter int    `json:"retryAfter,omitempty"` // in seconds
}

// ArmDoor are the parameters of the armDoor request.
type ArmDoor struct {
	Name   string  `json:"name"`
	Faults []Fault `json:"faults"`
}

// DisarmDoor are the parameters of the disarmDoor request.
type DisarmDoor struct {
	Name string `json:"name"`
}

// ResumeDoor are the parameters of the resumeDoor request.
type ResumeDoor struct {
	Name   string `json:"name"`
	Serial int64  `json:"serial"` // of the request that a fault has paused or stalled
}

// WatchesOf are the parameters of the requests holdWatches, releaseWatches and cutWatches.
type WatchesOf struct {
	Name     string `json:"name"`
	Group    string `json:"group,omitempty"`
	Resource string `json:"resource"`
	Merge    bool   `json:"merge,omitempty"` // releaseWatches: several changes of an object are one
}

// Report is a line from the program about what came through an inspected door, or was written to the store. Which
// fields are set depends on Name.
type Report struct {
	Name EventName `json:"event"`

	Door   string `json:"door,omitempty"`
	Serial int64  `json:"serial,omitempty"` // of the request, or the watch
	Missed int    `json:"missed,omitempty"` // reports before this one that were not sent

	// Request, once it is answered.
	User            string  `json:"user,omitempty"`
	Version         string  `json:"version,omitempty"`
	Path            string  `json:"path,omitempty"`
	LatencyMs       float64 `json:"latencyMs,omitempty"`
	Verb            string  `json:"verb,omitempty"`
	Group           string  `json:"group,omitempty"` // also of Delivered
	Resource        string  `json:"resource,omitempty"`
	Subresource     string  `json:"subresource,omitempty"`
	Namespace       string  `json:"namespace,omitempty"`
	ObjectName      string  `json:"name,omitempty"`
	Status          int     `json:"status,omitempty"` // 0: the connection ended without an answer; also of Struck
	ResourceVersion string  `json:"resourceVersion,omitempty"`
	Began           int64   `json:"began,omitempty"` // revision of the store when it came
	Ended           int64   `json:"ended,omitempty"` // and when it was answered
	DryRun          bool    `json:"dryRun,omitempty"`
	Fresh           bool    `json:"fresh,omitempty"`   // a read of what is stored at that moment
	Selects         bool    `json:"selects,omitempty"` // of some objects only, by a selector

	Fault string `json:"fault,omitempty"` // Struck
	Type  string `json:"type,omitempty"`  // Delivered: ADDED, MODIFIED, DELETED, or SYNCED once what was there is delivered

	// Changed.
	Logical  string          `json:"logical,omitempty"`
	Key      string          `json:"key,omitempty"`
	Revision int64           `json:"revision,omitempty"`
	Created  bool            `json:"created,omitempty"`
	Deleted  bool            `json:"deleted,omitempty"`
	Object   json.RawMessage `json:"object,omitempty"` // as it is stored; nil also if it is larger than 512 KiB
}
