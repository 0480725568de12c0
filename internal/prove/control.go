package prove

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// control reports whether the reference may be relied on: an operator that waits by the clock goes on after a rest that
// was long enough for learning. So where a fault has shown something, the scenario is run once without one, with the
// patience of those who confirm. What is different then has to come a second time: else it comes by chance.
func (e *exploration) control(ctx context.Context, w *worker) error {
	e.controlled.Do(func() {
		first, _, err := e.late(ctx, w)
		if err != nil || first == nil {
			e.unreliable = err
			return
		}
		second, pauses, err := e.late(ctx, w)
		if err != nil {
			e.unreliable = err
			return
		}
		for i := range min(len(first), len(second)) {
			if both := common(first[i], second[i]); len(both) > 0 {
				e.unreliable = fmt.Errorf("%w: after step %d (%s) it rests and goes on later%s; the scenario needs a patience of %s",
					ErrUnfit, i+1, e.Scenario.Steps[i], list(both), enough(pauses[i]))
				return
			}
		}
	})
	return e.unreliable
}

// late is what is different after each step if more time is given, and the longest pause in it; nil if nothing is.
func (e *exploration) late(ctx context.Context, w *worker) (differences [][]Difference, pauses []time.Duration, err error) {
	got, err := w.run(ctx, Plan{}, nil, true)
	if err != nil {
		return nil, nil, err
	}
	found := false
	for i, r := range got.raw {
		d := e.ref.compare(e.ref.canon.state(r.objects, r.gone), i)
		found = found || len(d) > 0
		differences, pauses = append(differences, d), append(pauses, pause(got.changes, i))
	}
	if !found {
		return nil, nil, nil
	}
	return differences, pauses, nil
}

// common are the differences of the same object and field.
func common(a, b []Difference) (both []Difference) {
	for _, d := range a {
		if slices.ContainsFunc(b, func(o Difference) bool { return o.Object == d.Object && o.Field == d.Field }) {
			both = append(both, d)
		}
	}
	return both
}

// pause is the longest time without a change before the last one in a step.
func pause(changes []change, step int) (longest time.Duration) {
	var before time.Time
	for _, c := range changes {
		if c.step == step && !before.IsZero() {
			longest = max(longest, c.at.Sub(before))
		}
		if c.step == step {
			before = c.at
		}
	}
	return longest
}

// enough is a patience that outlasts a pause.
func enough(pause time.Duration) time.Duration {
	return pause.Truncate(time.Second) + 2*time.Second
}
