package prove

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// How long nothing happens before a cluster counts as being at rest.
const (
	restAsExpected = 12 * time.Millisecond  // where the state is as expected
	restAfterStart = 130 * time.Millisecond // the same of a new process: client-go looks every 100 ms whether its caches are filled
	restPolling    = 450 * time.Millisecond // where the operator asks by the clock
	restLearning   = 400 * time.Millisecond // where nothing is known to compare with
	usualPatience  = 700 * time.Millisecond // where the state is another one
	confirming     = 5 * time.Second        // the same where a finding is confirmed
	controlling    = 3 * time.Second        // how long the states of the reference have to last
	stillChanging  = 2500 * time.Millisecond
	neverAtRest    = 8 * time.Second
	longestWork    = 30 * time.Second     // on a step, while learning
	look           = 4 * time.Millisecond // between two looks
	busyTime       = 300 * time.Microsecond
)

// An Oracle is what a run is judged by.
type Oracle string

// The oracles.
const (
	Diverged    Oracle = "diverged"      // the state at rest is another one than without the fault
	Restless    Oracle = "never-at-rest" // objects keep changing
	Ended       Oracle = "operator-ended"
	Extra       Oracle = "extra-writes"   // objects were created or deleted more often than without the fault
	LeftBehind  Oracle = "left-behind"    // the operator's objects stay when those of the users are gone
	WritesAgain Oracle = "writes-at-rest" // a new process writes although nothing is to do
	Backwards   Oracle = "observed-generation-back"
	Forbidden   Oracle = "forbidden" // the API server refuses the operator what it asks for
	StepRefused Oracle = "step-refused"
	Panicked    Oracle = "panic"          // a process has recovered from one
	Mistaken    Oracle = "another-object" // an object was deleted that is not the one which the operator has seen
	Broken      Oracle = "invariant"      // an invariant of the scenario does not hold after some write
	UntilUnmet  Oracle = "until-not-met"  // a step's condition does not hold at rest
)

// A Symptom is what is wrong in a run.
type Symptom struct {
	Oracle      Oracle
	Step        int
	Differences []Difference
	Details     []string
	Gone        bool  // the object that the step deletes is gone
	Stuck       bool  // it is not
	Healed      *bool // whether a restart of the operator heals it; nil: not tried
}

// An outcome is what a run has come to.
type outcome struct {
	states   []state
	raw      []rest // of learning runs
	symptoms []Symptom
	requests []*Request
	changes  []change
	watching map[watch]bool  // watches of new processes before they work
	open     map[watch]bool  // watches in the end
	pauses   []time.Duration // of learning runs, see waited
	struck   bool
	elapsed  time.Duration
}

// rest is the content of a cluster at rest.
type rest struct {
	objects []map[string]any
	gone    []string
	after   time.Duration // of the step
}

// A run is one run of the scenario.
type run struct {
	*worker
	plan Plan // without a kind: no fault
	ref  *Reference
	calm bool // with more patience
	// learning has the run go on where the state is another one.
	learning bool

	now     *running   // that the fault is for
	others  []*running // processes of the other operators
	passed  bool       // the next step was done while a watch lagged
	again   bool       // the second fault waits for the process that was started again
	former  *running   // works beside now; nil: none does
	fresh   bool       // now has been started in this run
	outcome *outcome
	used    time.Duration // processor time of now
	step    int
	// failures counts the attempts of the operator that the fault has had fail, where it lasts.
	failures int
	verdict  *verdict // on the step's condition; nil: not evaluated yet
}

// run carries out the scenario with a plan, and compares with the reference unless that is nil.
func (w *worker) run(ctx context.Context, plan Plan, ref *Reference, calm bool) (*outcome, error) {
	return (&run{worker: w, plan: plan, ref: ref, calm: calm, outcome: &outcome{}}).all(ctx)
}

func (r *run) all(ctx context.Context) (_ *outcome, err error) {
	w, begin := r.worker, time.Now()
	if r.calm {
		if err := w.cool(ctx); err != nil {
			return nil, err
		}
	}
	if err := w.reset(ctx); err != nil {
		return nil, err
	}
	if err := r.gather(ctx); err != nil {
		return nil, err
	}
	r.outcome.struck = r.plan.Kind == Without
	for r.step = 0; r.step < len(w.scenario.Steps); r.step++ {
		goOn, err := r.do(ctx)
		if err != nil {
			return nil, err
		}
		if !goOn {
			break
		}
	}
	err = r.end(ctx)
	r.outcome.elapsed = time.Since(begin)
	return r.outcome, err
}

// comesUp waits until a process is ready for the scenario.
func (r *run) comesUp(ctx context.Context, o *running) error {
	began, limit := time.Now(), r.startLimit()
	for {
		p := r.world.pulse(o.door)
		if r.ref == nil && p.asked && len(p.watching) == 0 && time.Since(began) > pollsAfter {
			return nil // it has no watches, and asks by the clock
		}
		if r.ref != nil && r.watches(p, o) || r.ref == nil && len(p.watching) > 0 && p.inFlight == 0 && time.Since(p.last) > restLearning {
			maps.Copy(r.outcome.watching, p.watching)
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-o.child.Done():
			return fmt.Errorf("%w: %sit has ended before it had begun its work: %w", ErrUnfit, o.prefix(), o.child.Wait())
		case <-limit:
			if r.ref == nil {
				return nil // it may have no watches
			}
			return fmt.Errorf("%w: %sit has not begun its watches within %s", ErrUnfit, o.prefix(), startLimit)
		case <-time.After(look):
		}
	}
}

// forget waits until the processes of the last run have seen that all is gone. Until then they may make some of it
// again.
func (r *run) forget(ctx context.Context) error {
	for range mostResets {
		for begin := time.Now(); !r.knowsAll() && time.Since(begin) < forgetting && ctx.Err() == nil; {
			time.Sleep(look)
		}
		r.idle(ctx, restAsExpected, startLimit)
		if objects, gone := r.world.existing(); len(objects)+len(gone) == 0 {
			return context.Cause(ctx)
		}
		if err := r.reset(ctx); err != nil {
			return err
		}
	}
	return nil // it is for the run to show
}

// mostResets bounds the resets before a run, and forgetting how long a deletion may take to a process. It may have
// asked for other objects only.
const (
	mostResets = 5
	forgetting = 300 * time.Millisecond
)

// errMissed says that it is not known what has happened.
var errMissed = errors.New("the cluster reported more than could be taken")

// startLimit bounds the start of an operator. One that asks and has no watch after pollsAfter begins none.
const (
	startLimit = 15 * time.Second
	pollsAfter = 3 * time.Second
)

// watches reports whether operators have all watches that they have had in the reference.
func (r *run) watches(p pulse, of ...*running) bool {
	for w := range r.ref.watching {
		if !p.watching[w] && slices.ContainsFunc(of, func(o *running) bool { return o.operator.Name == w.operator }) {
			return false
		}
	}
	return true
}

// do carries out a step and waits for rest; it is false if the run cannot go on.
func (r *run) do(ctx context.Context) (bool, error) {
	r.world.at(r.step)
	kind, faulty := r.plan.Kind, r.plan.in(r.step)
	if err := r.arm(ctx); err != nil {
		return false, err
	}
	ok, err := true, error(nil)
	switch {
	case faulty && kind == Absent:
		ok, err = r.away(ctx)
	case faulty && kind == Unreachable:
		ok, err = r.unreachable(ctx)
	case faulty && (kind == Merged || kind == Coalesced):
		ok, err = r.asOne(ctx)
	case faulty && kind.skips():
		ok, err = r.twoSteps(ctx)
	default:
		ok, err = r.act(ctx)
	}
	if !ok || err != nil {
		return false, err
	}
	goOn, err := r.settle(ctx)
	if err == nil && (faulty || r.plan.second().in(r.step)) { // it is for this step
		err = errors.Join(r.lab.disarm(ctx, r.now.door), r.alone(ctx))
	}
	if err == nil && goOn && kind == Restarted {
		goOn, err = r.restartAtRest(ctx)
	}
	if err == nil && goOn && faulty && kind == TimeTravel {
		goOn, err = r.travel(ctx)
	}
	return goOn, err
}

func (r *run) wrong(s Symptom) {
	s.Step = min(r.step, len(r.scenario.Steps)-1) // that of the whole run is the last one
	r.outcome.symptoms = append(r.outcome.symptoms, s)
}

// replace kills the operator and starts another process of it. The caches of a spare process fill one after the other
// when its turn comes, those of a new one before it begins its work: where that may matter, it is a new one.
func (r *run) replace(ctx context.Context) error {
	if err := r.kill(ctx, r.now); err != nil {
		return err
	}
	next, err := r.take(ctx, r.now.operator.Name, r.calm || r.plan.Kind == Restarted)
	if err != nil {
		return err
	}
	r.now, r.fresh, r.used = next, true, 0
	if f, ok := r.plan.secondFault(); ok && r.plan.in(r.step) && r.plan.second().in(r.step) && !r.again {
		f.Skip, r.again = 0, true // the new process begins with its first request
		if err := r.lab.arm(ctx, next.door, f); err != nil {
			return err
		}
	}
	return r.prepare(ctx)
}

// arm has the door commit what is for the step. A second fault behind a death is for the next process.
func (r *run) arm(ctx context.Context) error {
	var faults []protocol.Fault
	if f, ok := r.plan.fault(); ok && r.plan.in(r.step) {
		faults = append(faults, f)
	}
	if f, ok := r.plan.secondFault(); ok && r.plan.second().in(r.step) && !(r.plan.Kind == KilledAfter && r.plan.in(r.step)) {
		faults = append(faults, f)
	}
	if len(faults) == 0 {
		return nil
	}
	return r.lab.arm(ctx, r.now.door, faults...)
}

// idle waits until the operator has done nothing for a while, but no longer than limit.
func (r *run) idle(ctx context.Context, quiet, limit time.Duration) {
	begin, busy := time.Now(), time.Now()
	for time.Since(begin) < limit && ctx.Err() == nil {
		if r.stopped(ctx) {
			begin = time.Now()
		}
		p := r.pulse()
		if r.worked() {
			busy = time.Now()
		}
		if p.inFlight == 0 && time.Since(p.last) > quiet && time.Since(busy) > quiet && !r.waiting() {
			return
		}
		time.Sleep(look)
	}
}

// worked reports whether the operator, or what it has started, has used the processor since the last call.
func (r *run) worked() bool {
	used := r.computed()
	if (used - r.used).Abs() < busyTime { // less if a child has ended
		return false
	}
	r.used = used
	return true
}

// end judges the run as a whole, and keeps the process for the next one if all is well.
func (r *run) end(ctx context.Context) error {
	o := r.outcome
	if err := r.alone(ctx); err != nil {
		return err
	}
	p := r.pulse()
	o.open = p.watching
	if p.missed > 0 {
		return errMissed
	}
	o.requests, o.changes = r.world.history()
	if err := r.invariants(); err != nil {
		return err
	}
	for o := range r.worker.all {
		r.notePanic(o)
	}
	if r.panicked != "" { // and is the cause of what else is wrong
		s := Symptom{Oracle: Panicked, Step: min(r.step, len(r.scenario.Steps)-1), Details: []string{r.panicked}}
		o.symptoms = slices.Insert(o.symptoms, 0, s)
	}
	if r.ref != nil {
		r.judge()
	}
	if r.keeps {
		r.left = r.now
		return r.lab.disarm(ctx, r.now.door)
	}
	_, late := r.world.nextStruck() // it has changed how the door is
	if len(o.symptoms) == 0 && r.ref != nil && !r.calm && !late {
		r.warm = r.ordered()
		return r.prepare(ctx)
	}
	if err := r.disperse(ctx); err != nil {
		return err
	}
	return r.prepare(ctx)
}
