package process

import (
	"sync"
	"time"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Meter remembers what was used, to report how fast.
type Meter struct {
	mu    sync.Mutex
	since Reading // that the rate is told from
	last  Reading
}

// Reading is a measurement.
type Reading struct {
	wire.Usage
	At   time.Time
	Rate uint64 // nanoseconds of CPU time a second
}

// shortest is the least time that a rate is told of.
const shortest = time.Second

// Note takes a measurement into account. CPU time never goes back, though with processes that have ended theirs may be
// gone.
func (m *Meter) Note(u wire.Usage, at time.Time) Reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	u.CPU = max(u.CPU, m.last.CPU)
	m.last = Reading{Usage: u, At: at, Rate: m.last.Rate}
	if m.since.At.IsZero() {
		m.since = m.last
	}
	if passed := at.Sub(m.since.At); passed >= shortest {
		m.last.Rate = uint64(float64(u.CPU-m.since.CPU) / passed.Seconds())
		m.since = m.last
	}
	return m.last
}

// Add adds another reading of about the same time.
func (r *Reading) Add(o Reading) {
	r.Rate += o.Rate
	r.Usage = wire.Usage{
		CPU: r.CPU + o.CPU, Memory: r.Memory + o.Memory, WorkingSet: r.WorkingSet + o.WorkingSet, RSS: r.RSS + o.RSS,
		Faults: r.Faults + o.Faults, MajorFaults: r.MajorFaults + o.MajorFaults, Processes: r.Processes + o.Processes,
	}
}
