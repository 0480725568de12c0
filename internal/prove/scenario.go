package prove

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Scenario is what users do with an operator.
type Scenario struct {
	Steps      []Step
	Ignore     []Ignore
	Invariants []Invariant
	Patience   time.Duration // how long nothing may happen before a state that is not as expected counts; 0: 700 ms
}

// A Step is one thing that users do. One of the fields from Apply to Exec is set.
type Step struct {
	Name   string
	Apply  map[string]any // an object, applied on the server
	Patch  map[string]any // an object's identity, and the fields of a merge patch
	Delete map[string]any // an object's identity
	Scale  *Scale
	Exec   []string // a command, as words

	Until    *Condition    // the step is not over before it holds; nil: there is none
	Patience time.Duration // in place of the scenario's; 0: that one
}

// String names the step.
func (s Step) String() string {
	if s.Name != "" {
		return s.Name
	}
	verb, object := s.what()
	if verb == "exec" {
		return oneLine("exec " + strings.Join(s.Exec, " "))
	}
	return verb + " " + identify(text(object["kind"]), metadata(object, "namespace"), metadata(object, "name"))
}

// what is the verb of a step and its object, which a command has none of.
func (s Step) what() (verb string, object map[string]any) {
	switch {
	case s.Exec != nil:
		return "exec", nil
	case s.Scale != nil:
		return "scale", s.Scale.Object
	case s.Apply != nil:
		return "apply", s.Apply
	case s.Patch != nil:
		return "patch", s.Patch
	}
	return "delete", s.Delete
}

// Fields are what a patch changes: all but what names the object.
func (s Step) Fields() map[string]any {
	fields := maps.Clone(s.Patch)
	delete(fields, "apiVersion")
	delete(fields, "kind")
	meta, _ := fields["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	delete(meta, "name")
	delete(meta, "namespace")
	if fields["metadata"] = meta; len(meta) == 0 {
		delete(fields, "metadata")
	}
	return fields
}

// about names the step's object.
func (s Step) about() string {
	_, object := s.what()
	return identify(text(object["kind"]), cmp.Or(metadata(object, "namespace"), metav1.NamespaceDefault), metadata(object, "name"))
}

// mayDelete reports whether objects may go by the step alone.
func (s Step) mayDelete() bool { return s.Delete != nil || s.Exec != nil }

// mayComeEarly reports whether users may do a step before the operator is at rest. A command may need what the operator
// makes, and so does a change of an object that no step has applied.
func mayComeEarly(steps []Step, at int) bool {
	verb, object := steps[at].what()
	switch verb {
	case "exec":
		return false
	case "patch", "scale":
		return slices.ContainsFunc(steps[:at], func(s Step) bool {
			return s.Apply != nil && text(s.Apply["kind"]) == text(object["kind"]) && metadata(s.Apply, "name") == metadata(object, "name") &&
				cmp.Or(metadata(s.Apply, "namespace"), metav1.NamespaceDefault) == cmp.Or(metadata(object, "namespace"), metav1.NamespaceDefault)
		})
	}
	return true
}

// A Scale sets how many replicas an object is to have, as kubectl scale and autoscalers do.
type Scale struct {
	Object   map[string]any // its identity
	Replicas int64
}

// Ignore says what differs by nature between two runs. An empty field means all.
type Ignore struct {
	Kind   string
	Name   string   // NAMESPACE/NAME, or NAME of what has no namespace; also with * at the end
	Fields []string // paths; empty: the whole object
}
