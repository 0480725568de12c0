package cli

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// How much garbage may pile up while generators run, in percent of what is in use: they end before much of it is worth
// collecting. Of the little that is in use at first it is more, so that most runs end before any is collected.
const (
	patience      = 400
	firstPatience = 1600
)

// patiently lets garbage pile up until it is undone.
func patiently() (undo func()) {
	var mu sync.Mutex
	undone := false
	before := debug.SetGCPercent(firstPatience)
	firstCollected := func(struct{}) {
		mu.Lock()
		defer mu.Unlock()
		if !undone {
			debug.SetGCPercent(patience)
		}
	}
	runtime.AddCleanup(new([64]byte), firstCollected, struct{}{})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		undone = true
		debug.SetGCPercent(before)
	}
}
