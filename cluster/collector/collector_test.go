package collector

import (
	"runtime/debug"
	"testing"
)

// TestCollectorIsOffUntilResumed, and has the settings then that the program was started with.
func TestCollectorIsOffUntilResumed(t *testing.T) {
	percent := func() int {
		now := debug.SetGCPercent(-1)
		debug.SetGCPercent(now)
		return now
	}
	if got := percent(); got != -1 {
		t.Errorf("it is on, with %d%%", got)
	}
	t.Cleanup(func() { debug.SetGCPercent(-1) }) // for a next run
	Resume()
	if got := percent(); got != usual || got <= 0 {
		t.Errorf("resumed it has %d%%, want %d%%", got, usual)
	}
}
