package prove

import (
	"context"
	"fmt"
	"time"
)

// control reports whether the reference may be relied on: an operator that waits by the clock goes on after a rest that
// was long enough for learning. So where a fault has shown something, the scenario is run once without one, with the
// patience of those who confirm.
func (e *exploration) control(ctx context.Context, w *worker) error {
	e.controlled.Do(func() {
		got, err := w.run(ctx, Plan{}, nil, true)
		if err != nil {
			e.unreliable = err
			return
		}
		for i, r := range got.raw {
			if late := e.ref.compare(e.ref.canon.state(r.objects, r.gone), i); len(late) > 0 {
				e.unreliable = fmt.Errorf("%w: after step %d (%s) it rests and goes on later%s; the scenario needs a patience of %s",
					ErrUnfit, i+1, e.Scenario.Steps[i], list(late), enough(pause(got.changes, i)))
				return
			}
		}
	})
	return e.unreliable
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
