package prove

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/prove/expression"
)

func condition(t *testing.T, text string) *Condition {
	t.Helper()
	e, err := expression.Compile(text, VariableObject, VariableObjects)
	if err != nil {
		t.Fatal(err)
	}
	return &Condition{e, text}
}

// TestUnmet: a condition is about the step's object as it is stored, and is evaluated again when something has changed.
func TestUnmet(t *testing.T) {
	kinds := Kinds{schema.GroupKind{Group: "example.com", Kind: "Widget"}: {Resource: "widgets", Version: "v1", Namespaced: true}}
	widget := map[string]any{"apiVersion": "example.com/v2", "kind": "Widget", "metadata": map[string]any{"name": "one"}}
	w := newWorld(nil, kinds)
	w.begin(1)
	r := &run{worker: &worker{world: w, driver: driver{kinds: kinds}, scenario: Scenario{Steps: []Step{{Apply: widget, Until: condition(t, "object.status.phase == 'Ready'")}}}},
		now: &running{}, outcome: &outcome{}}
	if got, want := r.unmet(), []string{"until does not hold: object.status.phase == 'Ready'", "no such key: status", "the step's object is not there"}; len(got) != len(want) || got[2] != want[2] {
		t.Errorf("%q", got)
	}
	w.see(changed("/example.com/widgets/other/one", 2, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"other","name":"one"},"status":{"phase":"Ready"}}`))
	w.see(changed("/example.com/widgets/default/one", 3, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"default","name":"one"},"status":{"phase":"Waiting"}}`))
	if got, want := r.unmet(), `its status is {"phase":"Waiting"}`; !slices.Contains(got, want) {
		t.Errorf("%q", got)
	}
	w.see(changed("/example.com/widgets/default/one", 4, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"default","name":"one"},"status":{"phase":"Ready"}}`))
	if got := r.unmet(); got != nil {
		t.Errorf("%q", got)
	}
	r.step = 1
	if r.given() != 0 {
		t.Error("a step that is not there has patience")
	}
}

// TestPauses: a step waits twice as long as its condition did without a fault, unless the scenario has more patience.
func TestPauses(t *testing.T) {
	var o outcome
	o.waited(1, 2*time.Second)
	o.waited(1, time.Second)
	ref := &Reference{pauses: longest([]time.Duration{1}, o.pauses)}
	r := &run{worker: &worker{scenario: Scenario{Patience: 3 * time.Second, Steps: []Step{{Until: &Condition{}}, {Patience: time.Second, Until: &Condition{}}, {}}}}, ref: ref}
	for step, want := range []time.Duration{3 * time.Second, 4 * time.Second, 3 * time.Second} {
		if r.step = step; r.patience() != want {
			t.Errorf("step %d: %s, want %s", step+1, r.patience(), want)
		}
	}
	r.ref, r.scenario.Patience, r.step = nil, 0, 0
	if r.patience() != untilPatience {
		t.Error(r.patience())
	}
}
