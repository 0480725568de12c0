package prove

import (
	"time"
)

// A Scenario is what users do with an operator.
type Scenario struct {
	Steps      []Step
	Ignore     []Ignore
	Invariants []Invariant
	Patience   time.Duration // how long nothing may happen before a state that is not as expected counts; 0: 700 ms
}

// A Step is one thing that users do. One of the fields from Apply to Delete is set.
type Step struct {
	Name   string
	Apply  map[string]any // an object, applied on the server
	Patch  map[string]any // an object's identity, and the fields of a merge patch
	Delete map[string]any // an object's identity

	Until    *Condition    // the step is not over before it holds; nil: there is none
	Patience time.Duration // in place of the scenario's; 0: that one
}

// String names the step.
func (s Step) String() string {
	if s.Name != "" {
		return s.Name
	}
	verb, object := s.what()
	return verb + " " + identify(text(object["kind"]), metadata(object, "namespace"), metadata(object, "name"))
}

func (s Step) what() (verb string, object map[string]any) {
	switch {
	case s.Apply != nil:
		return "apply", s.Apply
	case s.Patch != nil:
		return "patch", s.Patch
	}
	return "delete", s.Delete
}

// Ignore says what differs by nature between two runs. An empty field means all.
type Ignore struct {
	Kind   string
	Name   string   // NAMESPACE/NAME, or NAME of what has no namespace; also with * at the end
	Fields []string // paths; empty: the whole object
}
