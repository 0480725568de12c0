package machine

import "time"

const (
	// mostEnds is how many times in a row a machine may end before it is given up.
	mostEnds = 5
	// steady is how long a machine runs after which its end begins a row of its own.
	steady = 10 * time.Second
	// secondPause is how long the second start of a row waits; the first one does not, and each later one waits twice
	// as long.
	secondPause = time.Second
)

// row counts ends that follow one another.
type row struct{ ends int }

// end says how long to wait before the next start, after an end of what had lived so long; or that there is none.
func (r *row) end(lived time.Duration) (pause time.Duration, goOn bool) {
	if lived >= steady {
		r.ends = 0
	}
	r.ends++
	if r.ends == 1 {
		return 0, true
	}
	return secondPause << (r.ends - 2), r.ends < mostEnds
}
