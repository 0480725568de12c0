package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/prove/expression"
)

// An Invariant holds after every write, by any client.
type Invariant struct {
	Name string // is unique
	Kind string // only objects of it count; empty: all
	Line int    // in the scenario
	That *expression.Expression
}

// A ScenarioError is a mistake of the scenario that shows in a run.
type ScenarioError struct {
	Line int
	Err  error
}

func (e *ScenarioError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Err) }

// Unwrap returns the reason.
func (e *ScenarioError) Unwrap() error { return e.Err }

// invariants looks for the first write of the run after which an invariant does not hold.
func (r *run) invariants() error {
	changes := r.outcome.changes
	var first *Symptom
	for _, i := range r.scenario.Invariants {
		n, s, err := i.broken(changes)
		if err != nil {
			return err
		}
		if s != nil {
			first, changes = s, changes[:n] // another one counts if it was broken before
		}
	}
	if first != nil {
		r.outcome.symptoms = slices.Insert(r.outcome.symptoms, 0, *first)
	}
	return nil
}

// broken finds the first of the changes after which the invariant does not hold; without a symptom there is none.
func (i Invariant) broken(changes []change) (n int, _ *Symptom, err error) {
	var now stock
	for n, c := range changes {
		if !now.take(c, i.Kind) {
			continue
		}
		holds, err := i.That.Holds(map[string]any{VariableObjects: now.objects})
		if err != nil {
			return 0, nil, &ScenarioError{i.Line, fmt.Errorf("invariant %q cannot be evaluated after the write of %s: %w", i.Name, c, err)}
		}
		if !holds {
			return n, &Symptom{Oracle: Broken, Step: c.step, Details: append([]string{i.Name, "since this write: " + c.String()}, i.concerns(now.objects)...)}, nil
		}
	}
	return 0, nil, nil
}

// concerns are the objects without each of which the invariant would hold.
func (i Invariant) concerns(objects []map[string]any) []string {
	var names []string
	for n, o := range objects {
		if holds, err := i.That.Holds(map[string]any{VariableObjects: slices.Delete(slices.Clone(objects), n, n+1)}); err == nil && holds {
			names = append(names, identify(text(o["kind"]), metadata(o, "namespace"), metadata(o, "name")))
		}
		if len(names) == shownDifferences {
			break
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"it concerns: " + strings.Join(names, ", ")}
}

// A stock are the objects that there were at a moment, in the order of their keys.
type stock struct {
	keys    []string
	objects []map[string]any
}

// take carries out a change of an object of a kind. It is false if the change is of another kind.
func (s *stock) take(c change, kind string) bool {
	i, there := slices.BinarySearch(s.keys, c.key)
	if !there && (c.deleted || kind != "" && text(c.object["kind"]) != kind) {
		return kind == ""
	}
	switch {
	case c.deleted:
		s.keys, s.objects = slices.Delete(s.keys, i, i+1), slices.Delete(s.objects, i, i+1)
	case there:
		s.objects[i] = c.object
	default:
		s.keys, s.objects = slices.Insert(s.keys, i, c.key), slices.Insert(s.objects, i, c.object)
	}
	return true
}
