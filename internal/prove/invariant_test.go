package prove

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/prove/expression"
)

// pods are changes of Pods: each has the role, or is deleted without one.
func pods(roles ...[2]string) (changes []change) {
	for _, r := range roles {
		c := change{key: "/pods/default/" + r[0], deleted: r[1] == "", created: r[1] != "", step: 1}
		if !c.deleted {
			c.object = map[string]any{"kind": "Pod", "metadata": map[string]any{"namespace": "default", "name": r[0], "labels": map[string]any{"role": r[1]}}}
		}
		changes = append(changes, c)
	}
	return changes
}

func invariant(t testing.TB, that string) Invariant {
	t.Helper()
	e, err := expression.Compile(that, VariableObjects)
	if err != nil {
		t.Fatal(err)
	}
	return Invariant{"never two primaries", "Pod", 7, e}
}

// TestInvariants: the first write after which an invariant does not hold is a symptom, before all others, with the
// objects that it is about. All that is there at the moment counts, and nothing else.
func TestInvariants(t *testing.T) {
	primaries := "objects.filter(o, o.metadata.labels.role == 'primary').size() < 2"
	for name, c := range map[string]struct {
		that    string
		changes []change
		want    []string
		mistake bool
	}{
		"holds":        {primaries, pods([2]string{"a", "primary"}, [2]string{"b", "replica"}, [2]string{"a", ""}, [2]string{"b", "primary"}), nil, false},
		"for a moment": {primaries, pods([2]string{"c", "replica"}, [2]string{"a", "primary"}, [2]string{"b", "primary"}, [2]string{"a", ""}), []string{"never two primaries", "since this write: Pod default/b", "it concerns: Pod default/a, Pod default/b"}, false},
		"by a change":  {"objects.all(o, o.metadata.labels.role != 'x')", pods([2]string{"a", "primary"}, [2]string{"a", "x"}), []string{"never two primaries", "since this write: Pod default/a", "it concerns: Pod default/a"}, false},
		"of the kind":  {"objects.size() < 2", append(pods([2]string{"a", "primary"}), change{key: "/x", object: map[string]any{"kind": "X"}}, change{key: "/y", deleted: true}), nil, false},
		"mistake":      {"objects.all(o, o.spec.replicas > 1)", pods([2]string{"a", "primary"}), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := &outcome{changes: c.changes, symptoms: []Symptom{{Oracle: Diverged}}}
			later := invariant(t, "objects.size() < 4")
			r := &run{worker: &worker{scenario: Scenario{Invariants: []Invariant{later, invariant(t, c.that), later}}}, outcome: o}
			err := r.invariants()
			if wrong, ok := errors.AsType[*ScenarioError](err); ok != c.mistake || ok && wrong.Line != 7 {
				t.Fatal(err)
			}
			s := o.symptoms[0]
			if (s.Oracle == Broken) != (c.want != nil) || !slices.Equal(s.Details, c.want) || c.want != nil && s.Step != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// BenchmarkInvariants: a run of 100 writes of 50 objects.
func BenchmarkInvariants(b *testing.B) {
	var all [][2]string
	for i := range 100 {
		all = append(all, [2]string{fmt.Sprint("pod-", i%50), "replica"})
	}
	o := &outcome{changes: pods(all...)}
	r := &run{worker: &worker{scenario: Scenario{Invariants: []Invariant{invariant(b, "objects.filter(o, o.kind == 'Pod' && o.metadata.labels.role == 'primary').size() < 2")}}}, outcome: o}
	for b.Loop() {
		if err := r.invariants(); err != nil || len(o.symptoms) > 0 {
			b.Fatal(err)
		}
	}
}
