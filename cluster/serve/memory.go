package serve

import (
	"runtime/debug"
	"sync"
	"time"
)

const (
	// startGC trades memory for time while the cluster starts, when almost nothing
	// that is allocated is garbage.
	startGC = 400
	// logicalGC does so while a logical cluster starts beside others, of whose memory it is a part.
	logicalGC = 200
	steadyGC  = 100
	// resetGC keeps the collector, which takes a core and longer than all the rest, out of a reset.
	resetGC = 400
	// giveBack is when the memory that a start took, or that a removed cluster has left, is given back to the
	// system, which costs a garbage collection that must not slow down the next requests.
	giveBack = 2 * time.Second
)

// memory is how the process, which is one for all clusters, uses memory at times.
type memory struct {
	mu       sync.Mutex
	spending int
	back     *time.Timer // gives memory back; nil until there was some
}

// spend spends memory, by the percentage, until done is called. Who comes while others do spends as they do.
func (m *memory) spend(percent int) (done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spending++; m.spending == 1 {
		debug.SetGCPercent(percent)
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.spending--; m.spending == 0 {
			debug.SetGCPercent(steadyGC)
		}
	}
}

// start spends memory and then gives it back.
func (m *memory) start(percent int) (done func()) {
	spent := m.spend(percent)
	return func() {
		spent()
		m.left()
	}
}

// left says that memory has become free.
func (m *memory) left() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.giveBackSoon()
}

// giveBackSoon needs m.mu. What comes in quick succession is waited for.
func (m *memory) giveBackSoon() {
	if m.back == nil {
		m.back = time.AfterFunc(giveBack, debug.FreeOSMemory)
		return
	}
	m.back.Reset(giveBack)
}
