package machine

import "time"

const (
	// mostEnds is the number of ends in a row after which a machine is given up.
	mostEnds = 5
	// steady is the time after which a machine's end begins a new row.
	steady = 10 * time.Second
	// secondPause is the pause before the second start in a row. The first start has none, and each later pause is
	// twice the previous one.
	secondPause = time.Second
)

// endCounter counts successive ends.
type endCounter struct{ ends int }

// end records the end of a machine that ran for lived. It returns the pause before the next start, and whether to
// start.
func (r *endCounter) end(lived time.Duration) (pause time.Duration, goOn bool) {
	if lived >= steady {
		r.ends = 0
	}
	r.ends++
	if r.ends == 1 {
		return 0, true
	}
	return secondPause << (r.ends - 2), r.ends < mostEnds
}
