package prove

import (
	"testing"
	"time"
)

// TestPausesInSteps: the patience that an operator needs outlasts its longest pause in a step.
func TestPausesInSteps(t *testing.T) {
	begin := time.Now()
	at := func(step int, after time.Duration) change { return change{step: step, at: begin.Add(after)} }
	changes := []change{at(0, 0), at(0, time.Second), at(1, 20*time.Second), at(1, 21*time.Second), at(1, 23100*time.Millisecond), at(1, 23200*time.Millisecond)}
	if got := pause(changes, 1); got != 2100*time.Millisecond {
		t.Errorf("it pauses for %s", got)
	}
	if got := enough(pause(changes, 1)); got != 4*time.Second {
		t.Errorf("a patience of %s is enough", got)
	}
	if got := pause(changes, 2); got != 0 {
		t.Errorf("where nothing changes it pauses for %s", got)
	}
}

// TestTracesOfTheWay: of steps that were seen as one, times and what a status kept of the first of them may lack.
func TestTracesOfTheWay(t *testing.T) {
	r := &run{step: 1, ref: &Reference{states: []state{{"A a": {"status.ip": "1", "spec.x": "1"}}, {}}}}
	for _, c := range []struct {
		d    Difference
		want bool
	}{
		{Difference{Object: "A a", Field: "status.ip", Want: "1"}, true},
		{Difference{Object: "A a", Field: "status.ip", Want: "2"}, false},
		{Difference{Object: "A a", Field: "spec.x", Want: "1"}, false},
		{Difference{Object: "A a", Field: "metadata.annotations.at", Want: someTime}, true},
		{Difference{Object: "A a", Field: "metadata.annotations.at", Want: someTime, Got: "never"}, false},
		{Difference{Object: "A a", Want: presence}, false},
	} {
		if got := r.recalls(c.d); got != c.want {
			t.Errorf("%s: %t", c.d, got)
		}
	}
}
