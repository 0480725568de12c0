package serve

import (
	"runtime/debug"
	"runtime/metrics"
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
	// followGC does so while a client follows the changes of a cluster: it has many of them made, and undone.
	followGC = 150
	// rushGC does so while large objects come: a definition of 1.5 MB leaves two gigabytes of garbage until it is
	// established and trusted, and collecting that as usual is a fifth of the work.
	rushGC = 400
	// rushCalm is how long after the last large object a rush is over. Controllers write it again within a second or
	// two.
	rushCalm = 3 * time.Second
	// spendLimit is how much memory, in bytes, there may be at such times, or twice as much as was in use before them.
	spendLimit = 1 << 30
	// giveBack is when the memory that a start took, or that a removed cluster has left, is given back to the
	// system, which costs a garbage collection that must not slow down the next requests.
	giveBack = 2 * time.Second
)

// memory is how the process, which is one for all clusters, uses memory at times.
type memory struct {
	mu       sync.Mutex
	spending int
	limit    int64 // of memory, when it is not spent
	rushing  bool
	calm     time.Time   // when the rush is over
	back     *time.Timer // gives memory back; nil until there was some
}

// spend spends memory, by the percentage, until done is called. Who comes while others do spends as they do.
func (m *memory) spend(percent int) (done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin(percent)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.end()
	}
}

// begin needs m.mu.
func (m *memory) begin(percent int) {
	if m.spending++; m.spending == 1 {
		m.limit = debug.SetMemoryLimit(-1)
		m.limitSpending()
		debug.SetGCPercent(percent)
	}
}

// limitSpending needs m.mu.
func (m *memory) limitSpending() { debug.SetMemoryLimit(min(m.limit, max(spendLimit, 2*inUse()))) }

// end needs m.mu.
func (m *memory) end() {
	if m.spending--; m.spending == 0 {
		debug.SetGCPercent(steadyGC)
		debug.SetMemoryLimit(m.limit)
	}
}

// inUse is how much of the heap was in use, in bytes, when garbage was last collected.
func inUse() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}

// rush spends memory until no large object has come for a while, and then gives it back.
func (m *memory) rush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calm = time.Now().Add(rushCalm)
	if !m.rushing {
		m.rushing = true
		m.begin(rushGC)
		time.AfterFunc(rushCalm, m.calmDown)
	}
}

// calmDown ends the rush, or waits for longer if it goes on.
func (m *memory) calmDown() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if longer := time.Until(m.calm); longer > 0 {
		m.limitSpending() // more may be in use by now, which must not be looked through all the time
		time.AfterFunc(longer, m.calmDown)
		return
	}
	m.rushing = false
	m.end()
	m.giveBackSoon()
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
