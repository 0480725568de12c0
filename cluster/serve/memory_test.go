package serve

import (
	"math"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// percent is the collector's setting.
func percent() int {
	now := debug.SetGCPercent(-1)
	debug.SetGCPercent(now)
	return now
}

func TestRush(t *testing.T) {
	// The settings are the process's: a cluster of another test, whose large objects came just now, holds them for
	// rushCalm.
	until(t, "clusters before this test spend no memory any more", func() bool { return debug.SetMemoryLimit(-1) == math.MaxInt64 })
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		expect := func(want int, when string) {
			t.Helper()
			synctest.Wait()
			if got := percent(); got != want {
				t.Errorf("%s: %d%%, want %d%%", when, got, want)
			}
		}
		m.rush()
		expect(rushGC, "in a rush")
		time.Sleep(rushCalm - time.Millisecond)
		m.rush() // it goes on
		time.Sleep(rushCalm - time.Millisecond)
		expect(rushGC, "in a longer rush")
		done := m.spend(resetGC)
		time.Sleep(time.Millisecond)
		expect(resetGC, "after the rush, while memory is spent for something else")
		done()
		expect(steadyGC, "after all")
		m.rush()
		expect(rushGC, "in the next rush")
		time.Sleep(rushCalm)
		expect(steadyGC, "after that")
		if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
			t.Errorf("memory stays limited: %d bytes", limit)
		}
		time.Sleep(giveBack) // lest the timer outlives the test
	})
}
