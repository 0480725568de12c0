package serve

import (
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
	t.Cleanup(func() { debug.SetGCPercent(steadyGC) })
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
		if limit := debug.SetMemoryLimit(-1); limit < 1<<40 {
			t.Errorf("memory stays limited: %d bytes", limit)
		}
		time.Sleep(giveBack) // lest the timer outlives the test
	})
}
