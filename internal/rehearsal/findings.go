package rehearsal

// A Class is a sort of finding. The names are stable.
type Class string

// The classes.
const (
	NotDeployed      Class = "not-deployed"      // a revision cannot be deployed in place of the other one
	ReadRefused      Class = "read-refused"      // reads fail until the end
	WriteRefused     Class = "write-refused"     // writes fail until the end
	NoService        Class = "no-service"        // requests fail for a while
	Repeated         Class = "repeated"          // requests fail once, and are answered when they are repeated
	ObjectLost       Class = "object-lost"       // an object is gone
	ObjectReplaced   Class = "object-replaced"   // an object was deleted and made anew
	FieldLost        Class = "field-lost"        // a field of a custom resource is gone
	FieldChanged     Class = "field-changed"     // a field of a custom resource has another value
	StatusLost       Class = "status-lost"       // a field of a status is gone, or zero, or a condition does not hold any more
	DefaultChanged   Class = "default-changed"   // the same manifest gives another object
	LossyConversion  Class = "lossy-conversion"  // writing an object in another version changes it
	FinalizerRenamed Class = "finalizer-renamed" // an object has a new finalizer beside those of before
	FinalizerAdded   Class = "finalizer-added"   // an object has its first finalizer, which the old revision does not know
	NoEndpoints      Class = "no-endpoints"      // a Service has lost its last endpoint
	DependentChanged Class = "dependent-changed" // an object that the operator makes has lost fields
	Doubled          Class = "doubled"           // an owner has more objects of a kind than before
	LockRenamed      Class = "lock-renamed"      // the leaders of the two revisions do not know of each other
	ManagerFails     Class = "manager-fails"     // the manager's log repeats an error
	PodsReplaced     Class = "pods-replaced"     // pods of users were replaced
	PodRestarted     Class = "pod-restarted"     // a container of users was started again
	Restless         Class = "restless"          // an object does not come to rest
	DefinitionChange Class = "definition-change" // a change of a definition that may break objects or clients
)

// A Phase is a part of the rehearsal.
type Phase string

// The phases.
const (
	fromPhase    Phase = "before"
	upgradePhase Phase = "upgrade"
	backPhase    Phase = "way back"
)

// A Finding is something that users of the operator would see of the upgrade. The JSON form is stable.
type Finding struct {
	Phase    Phase    `json:"phase"`
	Class    Class    `json:"class"`
	Object   string   `json:"object"`             // kind/namespace/name
	Versions []string `json:"versions,omitempty"` // in which it is seen
	Field    string   `json:"field,omitempty"`
	Before   any      `json:"before,omitempty"`
	After    any      `json:"after,omitempty"`
	Text     string   `json:"text"`
	Fatal    bool     `json:"fatal"` // users lose data, service, or the way back
}
