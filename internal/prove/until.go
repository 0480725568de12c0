package prove

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/prove/expression"
)

// Variables of the conditions of scenarios.
const (
	VariableObject  = "object"  // the step's object, as it is stored; null if there is none
	VariableObjects = "objects" // all objects that were written since the scenario began and are there
)

// A Condition is an expression of a scenario, and how messages name it.
type Condition struct {
	*expression.Expression
	Text string
}

// untilPatience is how long a run without a fault waits for a step's condition while nothing changes, unless the
// scenario says how long.
const untilPatience = 10 * time.Second

// A verdict is how the condition of a step was at some moment.
type verdict struct {
	step, changes int
	unmet         []string // why it does not hold; empty: it holds
}

// unmet says why the condition of the step does not hold; it is empty if it holds, or if there is none. A condition is
// evaluated only when something has changed.
func (r *run) unmet() []string {
	until := r.scenario.Steps[r.step].Until
	if until == nil {
		return nil
	}
	changes := r.world.pulse().changes
	objects, _ := r.world.existing()
	if v := r.verdict; v == nil || v.step != r.step || v.changes != changes {
		_, named := r.scenario.Steps[r.step].what()
		r.verdict = &verdict{r.step, changes, until.unmet(r.driver.find(named, objects), objects)}
	}
	return r.verdict.unmet
}

// unmet evaluates a condition. A field that is not there yet is no mistake: the operator may be about to write it.
func (c *Condition) unmet(object map[string]any, objects []map[string]any) []string {
	holds, err := c.Holds(map[string]any{VariableObject: object, VariableObjects: objects})
	if holds {
		return nil
	}
	why := []string{"until does not hold: " + c.Text}
	if err != nil {
		why = append(why, err.Error())
	}
	if object == nil {
		return append(why, "the step's object is not there")
	}
	shown := "the object has no status"
	if status, ok := object["status"]; ok {
		shown = "its status is " + text(status)
	}
	return append(why, oneLine(shown))
}

// given is the patience that the scenario has for the step; 0 if it says nothing.
func (r *run) given() time.Duration {
	if r.step < len(r.scenario.Steps) && r.scenario.Steps[r.step].Patience > 0 {
		return r.scenario.Steps[r.step].Patience
	}
	return r.scenario.Patience
}

// pause is how long the step's condition has waited at most in a run without a fault, while nothing changed.
func (r *run) pause() time.Duration {
	if r.ref == nil || r.step >= len(r.ref.pauses) {
		return 0
	}
	return r.ref.pauses[r.step]
}

// waited notes how long the condition of a step did not hold, while nothing changed.
func (o *outcome) waited(step int, unchanged time.Duration) {
	for len(o.pauses) <= step {
		o.pauses = append(o.pauses, 0)
	}
	o.pauses[step] = max(o.pauses[step], unchanged)
}

// longest are the pauses of two runs that are longer, by steps.
func longest(a, b []time.Duration) []time.Duration {
	if len(a) < len(b) {
		a, b = b, a
	}
	for i := range b {
		a[i] = max(a[i], b[i])
	}
	return a
}

// find is the object that a step names, as it is stored; nil if it is not there.
func (d driver) find(named map[string]any, objects []map[string]any) map[string]any {
	o := &unstructured.Unstructured{Object: named}
	kind, namespace := o.GroupVersionKind().GroupKind(), o.GetNamespace()
	if d.kinds[kind].Namespaced {
		namespace = cmp.Or(namespace, metav1.NamespaceDefault)
	}
	for _, object := range objects {
		other := &unstructured.Unstructured{Object: object}
		if other.GetName() == o.GetName() && other.GetNamespace() == namespace && other.GroupVersionKind().GroupKind() == kind {
			return object
		}
	}
	return nil
}
