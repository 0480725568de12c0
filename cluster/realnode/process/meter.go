package process

import (
	"sync"
	"time"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Meter computes the rate of CPU use from successive measurements. The zero value is ready to use.
type Meter struct {
	mu    sync.Mutex
	since Reading // the start of the rate's interval
	last  Reading
}

// Reading is a measurement with the current rate of CPU use.
type Reading struct {
	wire.Usage
	At   time.Time
	Rate uint64 // CPU time per second, in nanoseconds
}

// minInterval is the minimal interval for a rate.
const minInterval = time.Second

// Note adds a measurement. The returned CPU time never decreases, although that of ended processes may be missing from
// the measurement.
func (m *Meter) Note(u wire.Usage, at time.Time) Reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	u.CPU = max(u.CPU, m.last.CPU)
	m.last = Reading{Usage: u, At: at, Rate: m.last.Rate}
	if m.since.At.IsZero() {
		m.since = m.last
	}
	if passed := at.Sub(m.since.At); passed >= minInterval {
		m.last.Rate = uint64(float64(u.CPU-m.since.CPU) / passed.Seconds())
		m.since = m.last
	}
	return m.last
}

// Add adds another reading, taken at about the same time.
func (r *Reading) Add(o Reading) {
	r.Rate += o.Rate
	r.Usage = wire.Usage{
		CPU: r.CPU + o.CPU, Memory: r.Memory + o.Memory, WorkingSet: r.WorkingSet + o.WorkingSet, RSS: r.RSS + o.RSS,
		Faults: r.Faults + o.Faults, MajorFaults: r.MajorFaults + o.MajorFaults, Processes: r.Processes + o.Processes,
	}
}
