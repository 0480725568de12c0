package prove

import (
	"context"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// A replay is the run of one plan at which a user looks.
type replay struct {
	keeps    bool     // the last process is not ended
	debugged bool     // processes run under a debugger
	left     *running // the last process, once it is kept
}

// shown reports whether a user looks at the operator's process, so that no other one may take its place or stand beside
// it without need.
func (r replay) shown() bool { return r.keeps || r.debugged }

// prepareReplay has the next run be one at which a user looks.
func (w *worker) prepareReplay(keep bool) {
	w.keeps = keep
	w.debugged = slices.ContainsFunc(w.operators, func(o Operator) bool { return o.Debug != nil })
}

// keep calls Keep with the process that a worker has left.
func (p Proof) keep(report *Report, workers []*worker) error {
	for _, w := range workers {
		if w.left != nil {
			return p.Keep(report, w.left.child)
		}
	}
	return nil
}

// startLimit ends the wait for the operator's start. A user who steps through it may take any time.
func (r *run) startLimit() <-chan time.Time {
	if r.debugged {
		return nil
	}
	return time.After(startLimit)
}

// lookDebugged is the time between two looks whether a debugger has stopped the operator.
const lookDebugged = 50 * time.Millisecond

// stopped waits as long as a debugger has the operator stopped, or until a fault is committed, and reports whether it
// has waited.
func (r *run) stopped(ctx context.Context) (waited bool) {
	child := r.now.child
	if child.Stopped == nil {
		return false
	}
	for child.Stopped() {
		waited = true
		select {
		case <-ctx.Done():
			return true
		case <-child.Done():
			return true
		case <-r.world.woken:
			return true
		case <-time.After(lookDebugged):
		}
	}
	return waited
}

// Answer is how the request is answered in place of the server's answer; ok is false if the fault is another one.
func (p Plan) Answer() (answer protocol.FaultAnswer, ok bool) {
	answer, ok = answers[p.Kind]
	return answer, ok
}

// Prefix is the name of the request's object as doors match it.
func (p Point) Prefix() string { return prefix(p.Name) }
