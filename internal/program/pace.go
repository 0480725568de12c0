package program

import "time"

// linkShare is the part of a whole compilation that linking takes besides.
const linkShare = 0.06

// measured is how long the build must run before its pace says anything.
const measured = 3 * time.Second

// pace is how fast packages are compiled.
type pace struct {
	workers int     // how many are compiled at a time
	all     float64 // weight of all that are to be compiled
	done    float64 // weight of those that are
	working []begun // those that are being compiled
}

// begun is a package that is being compiled.
type begun struct {
	at     time.Duration
	weight float64
}

// starts notes that a package is being compiled from then on. The go command names a package when it begins with it,
// so one of those before it is done if no more can be compiled at a time.
func (p *pace) starts(at time.Duration, weight float64) {
	p.working = append(p.working, begun{at, weight})
	if len(p.working) > p.workers {
		p.done += p.working[0].weight
		p.working = p.working[1:]
	}
}

// left estimates the time that remains from the pace so far; 0 means unknown.
func (p *pace) left(elapsed time.Duration) time.Duration {
	done := p.reached(elapsed)
	if elapsed < measured || done <= 0 {
		return 0
	}
	return time.Duration(float64(elapsed) * (p.all*(1+linkShare) - done) / done)
}

// rounds are enough for the pace and what is done at that pace to agree.
const rounds = 20

// reached is the weight of what is done, with the parts of packages that are being compiled: each has come as far as
// its worker could come in its time at the pace of all.
func (p *pace) reached(elapsed time.Duration) float64 {
	done := p.done
	for range rounds {
		whole := done
		done = p.done
		for _, b := range p.working {
			part := whole / float64(len(p.working)) * float64(elapsed-b.at) / float64(max(elapsed, 1))
			done += min(b.weight, part)
		}
	}
	return done
}
