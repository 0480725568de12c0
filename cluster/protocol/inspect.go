package protocol

import "encoding/json"

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

// Disarmed is the result of the disarmDoor request.
type Disarmed struct {
	Left int `json:"left"` // faults that were not committed
}

// ActivateDoor are the parameters of the activateDoor request.
type ActivateDoor struct {
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

// MuteEvents are the parameters of the muteEvents request.
type MuteEvents struct {
	Logical string `json:"logical,omitempty"` // empty: the main cluster
	Mute    bool   `json:"mute"`
}

// FollowChanges are the parameters of the followChanges request.
type FollowChanges struct {
	Logical string `json:"logical,omitempty"` // empty: the main cluster
}

// Inspected is what is known of a request that comes through an inspected door.
type Inspected struct {
	Serial  int64 `json:"serial"`
	Began   int64 `json:"began"`           // revision of the store when it came
	Ended   int64 `json:"ended,omitempty"` // and when it was answered
	DryRun  bool  `json:"dryRun,omitempty"`
	Fresh   bool  `json:"fresh,omitempty"`   // a read of what is stored at that moment
	Selects bool  `json:"selects,omitempty"` // of some objects only, by a selector
}

// Begun reports that a request has come through an inspected door. A [DoorRequest] with the same serial follows.
type Begun struct {
	Door   string `json:"door"`
	Serial int64  `json:"serial"`
}

// Struck reports that an inspected door has committed a fault.
type Struck struct {
	Door   string `json:"door"`
	Fault  string `json:"fault"`
	Serial int64  `json:"serial"` // of the request
	Status int    `json:"status"` // of the server's answer; 0: the server did not get the request
}

// Delivered reports that a watch of an inspected door has delivered an event.
type Delivered struct {
	Door            string `json:"door"`
	Serial          int64  `json:"serial"` // of the watch
	Group           string `json:"group,omitempty"`
	Resource        string `json:"resource"`
	Type            string `json:"type"` // ADDED, MODIFIED, DELETED; SYNCED once it has delivered what was there
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// Changed reports a write to the store, to a client that follows changes.
type Changed struct {
	Logical  string          `json:"logical,omitempty"`
	Key      string          `json:"key"`
	Revision int64           `json:"revision"`
	Created  bool            `json:"created,omitempty"`
	Deleted  bool            `json:"deleted,omitempty"`
	Object   json.RawMessage `json:"object,omitempty"` // as it is stored; absent also if it is larger than 512 KiB
}

func (Begun) event() string     { return "begun" }
func (Struck) event() string    { return "struck" }
func (Delivered) event() string { return "delivered" }
func (Changed) event() string   { return "changed" }
