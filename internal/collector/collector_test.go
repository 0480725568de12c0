package collector

import (
	"math"
	"runtime"
	"runtime/debug"
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
	c := begin(300)
	undo := c.Patiently()
	if current() != 300 {
		t.Errorf("%d percent, want 300", current())
	}
	undo()
}

// TestUsersLimit: a GOMEMLIMIT that the program was started with is kept, also one that is none.
func TestUsersLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	for _, test := range []struct {
		set  string
		want int64
	}{{"off", math.MaxInt64}, {"", thrifty}} {
		Begin(test.set)
		if got := debug.SetMemoryLimit(-1); got != test.want {
			t.Errorf("%q: %d bytes, want %d", test.set, got, test.want)
		}
	}
}

func TestNone(*testing.T) {
	var c *Collector
	c.Patiently()()
	c.Watch(nil)
}

// TestWatch: what is garbage does not count, and what is in use does, once.
func TestWatch(t *testing.T) {
	const limit = 32 << 20
	before := debug.SetMemoryLimit(limit)
	defer debug.SetMemoryLimit(before)
	exceeded := make(chan int64, 2)
	new(Collector).Watch(func(bytes int64) { exceeded <- bytes })
	var kept [][]byte
	for range 200 {
		kept = append(kept[:0], make([]byte, 1<<20))
	}
	select {
	case <-exceeded:
		t.Error("garbage counts")
	default:
	}
	for len(exceeded) == 0 && len(kept) < 1000 {
		kept = append(kept, make([]byte, 1<<20))
		runtime.GC()
	}
	if got := <-exceeded; got != 2*limit || len(kept) < 64 {
		t.Errorf("exceeded %d bytes with %d MiB", got, len(kept))
	}
	runtime.GC()
	runtime.KeepAlive(kept)
	if len(exceeded) > 0 {
		t.Error("called twice")
	}
}
