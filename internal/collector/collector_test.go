package collector

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

// current is the setting in force.
func current() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// TestCollector: little is collected at first, then as much as is asked for.
func TestCollector(t *testing.T) {
	c := begin(standard)
	if got := current(); got != first {
		t.Errorf("%d percent before anything was collected, want %d", got, first)
	}
	undo := c.Patiently()
	if got := current(); got != first {
		t.Errorf("%d percent before anything was collected, want %d", got, first)
	}
	runtime.GC()
	for current() != patient {
		runtime.Gosched()
	}
	undo()
	if got := current(); got != standard {
		t.Errorf("%d percent afterwards, want %d", got, standard)
	}
}

// TestUsersSetting: a GOGC that the program was started with is kept.
func TestUsersSetting(t *testing.T) {
	if c := begin(300); c != nil || current() != 300 {
		t.Errorf("%v, %d percent, want none and 300", c, current())
	}
}

func TestNone(*testing.T) {
	var c *Collector
	c.Patiently()()
}
