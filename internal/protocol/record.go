package protocol

import (
	"encoding/json"
	"time"
)

// The kinds of a [RecordEntry].
const (
	RecordWrite    = "write"    // of an object to the store
	RecordRefusal  = "refusal"  // of a write, with the server's message
	RecordEvent    = "event"    // an Event, of the object that it is about
	RecordMarker   = "marker"   // of the cluster's life: began, resetting, reset, kept; for who follows, ended
	RecordGap      = "gap"      // entries are missing
	RecordRequest  = "request"  // through a front door
	RecordDelivery = "delivery" // of a watch through a front door
	RecordLine     = "line"     // of an operator's log
)

// RecordEnded is the type of the marker behind which who follows a record gets nothing more.
const RecordEnded = "ended"

// RecordEntry is something that happened.
type RecordEntry struct {
	Seq      uint64        `json:"seq,omitempty"`
	At       time.Time     `json:"at,omitzero"`
	Kind     string        `json:"kind,omitempty"`
	Object   *RecordObject `json:"object,omitempty"`
	By       *RecordAuthor `json:"by,omitempty"` // of a write: nil if no client is known; of a line: the operator's user, and its trace
	Revision int64         `json:"revision,omitempty"`
	// Type is created, updated or deleted of a write; that of an event, of a delivery or of a marker.
	Type    string         `json:"type,omitempty"`
	Changes []RecordChange `json:"changes,omitempty"`
	// MoreChanges is how many there are that Changes leaves out.
	MoreChanges int  `json:"moreChanges,omitempty"`
	Idle        bool `json:"idle,omitempty"` // the write changed nothing but managed fields
	// Unread is why the changes of a write are not known.
	Unread string   `json:"unread,omitempty"`
	Keys   []string `json:"keys,omitempty"` // of the data of a Secret, whose values changed; these are not recorded

	Decisions []RecordDecision `json:"decisions,omitempty"` // of admission, on a write or a refusal
	Status    int              `json:"status,omitempty"`
	LatencyMs float64          `json:"latencyMs,omitempty"`
	Path      string           `json:"path,omitempty"` // of a request for no resource
	Reason    string           `json:"reason,omitempty"`
	Message   string           `json:"message,omitempty"` // also the text of a line
	Count     int              `json:"count,omitempty"`   // of an event
	Missed    int              `json:"missed,omitempty"`  // entries, of a gap

	Operator   string `json:"operator,omitempty"` // of a line, as the rest
	Level      string `json:"level,omitempty"`
	Controller string `json:"controller,omitempty"`
	Reconcile  string `json:"reconcile,omitempty"`
	// Logged is when a line, a request or a delivery came, which is before it was recorded.
	Logged time.Time `json:"logged,omitzero"`
}

// RecordObject names an object, or the collection that a request is about.
type RecordObject struct {
	Group     string `json:"group,omitempty"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Kind      string `json:"kind,omitempty"`
	UID       string `json:"uid,omitempty"`
}

// RecordAuthor is who made a request, and how.
type RecordAuthor struct {
	User        string `json:"user,omitempty"`
	Agent       string `json:"agent,omitempty"`   // the client's User-Agent, or the component of an event
	Manager     string `json:"manager,omitempty"` // of fields
	Verb        string `json:"verb,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Call        int64  `json:"call,omitempty"`   // number of the request
	Within      int64  `json:"within,omitempty"` // the call in whose course the server made this one
	Door        string `json:"door,omitempty"`
	Trace       string `json:"trace,omitempty"` // traceparent
	// Unknown marks a write whose author may be a client: the program ended, or did not see the answer in time.
	Unknown bool `json:"unknown,omitempty"`
}

// RecordChange is a change of one field. Before is absent if the field was, After if it is.
type RecordChange struct {
	Path   string          `json:"path"` // empty: the whole object
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// RecordDecision is what a plugin of admission did about a request.
type RecordDecision struct {
	Plugin string `json:"plugin"`
	Effect string `json:"effect"`         // denied, or what the plugin annotates
	Text   string `json:"text,omitempty"` // of the annotation, or the error
}

// RecordQuery are the parameters of the record request, and of followRecord.
type RecordQuery struct {
	Logical   string        `json:"logical,omitempty"`
	Object    *RecordObject `json:"object,omitempty"`    // kind and UID do not count
	Field     string        `json:"field,omitempty"`     // path of a field of the object
	Owner     string        `json:"owner,omitempty"`     // UID: entries of what it owns
	User      string        `json:"user,omitempty"`      // entries of what a user did and got
	Operator  string        `json:"operator,omitempty"`  // lines of an operator
	Reconcile string        `json:"reconcile,omitempty"` // lines of a reconcile, by its ID
	Refused   bool          `json:"refused,omitempty"`   // requests that were refused
	Kinds     []string      `json:"kinds,omitempty"`
	Since     time.Time     `json:"since,omitzero"`
	Before    uint64        `json:"before,omitempty"` // newest first, from before this entry
	After     *uint64       `json:"after,omitempty"`  // oldest first, from behind this entry
	Limit     int           `json:"limit,omitempty"`
}

// RecordPage is the result of the record request.
type RecordPage struct {
	Entries []RecordEntry `json:"entries"`
	// Next is where the next page begins, as before or after; 0 if there is none.
	Next       uint64    `json:"next,omitempty"`
	SearchedTo time.Time `json:"searchedTo,omitzero"`
}

// RecordLines are the parameters of the recordLines request.
type RecordLines struct {
	Operator string         `json:"operator"`
	Lines    []OperatorLine `json:"lines"`
	Missed   int            `json:"missed,omitempty"` // lines that had no room
}

// OperatorLine is a line of an operator's log.
type OperatorLine struct {
	At         time.Time     `json:"at,omitzero"`
	Level      string        `json:"level,omitempty"`
	Controller string        `json:"controller,omitempty"`
	Reconcile  string        `json:"reconcile,omitempty"`
	Object     *RecordObject `json:"object,omitempty"`
	Text       string        `json:"text"`
	User       string        `json:"user,omitempty"`  // whose rights the operator has
	Trace      string        `json:"trace,omitempty"` // ID of the trace that the reconcile is part of
}

// RecordStatus reports about the record of a cluster.
type RecordStatus struct {
	Bytes   int64     `json:"bytes"`
	Limit   int64     `json:"limit"`
	Last    uint64    `json:"last,omitempty"` // number of the newest entry
	Oldest  time.Time `json:"oldest,omitzero"`
	Missed  int64     `json:"missed,omitempty"`
	Damaged int64     `json:"damaged,omitempty"`
	Problem string    `json:"problem,omitempty"` // why nothing is written
}
