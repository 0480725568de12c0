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
	if usual != standard {
		t.Skip("GOGC is set")
	}
	c := Begin()
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
	if got := current(); got != usual {
		t.Errorf("%d percent afterwards, want %d", got, usual)
	}
}

func TestNone(*testing.T) {
	var c *Collector
	c.Patiently()()
}
