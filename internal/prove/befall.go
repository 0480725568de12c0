package prove

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// away has the operator not run while the step is done.
func (r *run) away(ctx context.Context) (bool, error) {
	r.outcome.struck = true
	if err := r.kill(ctx, r.now); err != nil {
		return false, err
	}
	refused, err := r.carryOut(ctx)
	if err != nil {
		return false, err
	}
	if refused == nil {
		r.calmDown(ctx)
	}
	if r.now, err = r.take(ctx, r.now.operator.Name, r.calm); err != nil {
		return false, err
	}
	r.fresh, r.used = true, 0
	if err := r.comesUp(ctx, r.now); errors.Is(err, ErrUnfit) {
		r.wrong(Symptom{Oracle: Ended, Details: []string{strings.TrimPrefix(err.Error(), ErrUnfit.Error()+": ")}})
		return false, nil
	} else if err != nil {
		return false, err
	}
	if err := r.prepare(ctx); err != nil || refused == nil {
		return err == nil, err
	}
	return r.act(ctx) // its webhooks were not there: users try again
}

// unreachable has the operator work on the step while its webhooks refuse all calls.
func (r *run) unreachable(ctx context.Context) (bool, error) {
	interrupt := r.now.operator.Interrupt
	of := r.subject()
	if err := r.lab.hold(ctx, r.now.door, of); err != nil {
		return false, err
	}
	ok, err := r.act(ctx) // users are served
	if !ok || err != nil {
		return false, err
	}
	before := interrupt(true)
	if err := r.lab.release(ctx, r.now.door, of, false); err != nil {
		return false, err
	}
	r.lull(ctx, failing)
	r.outcome.struck = interrupt(false) > before
	return true, nil
}

// calmDown waits until the cluster changes nothing by itself, but not for long.
func (r *run) calmDown(ctx context.Context) {
	const quiet, limit = 40 * time.Millisecond, time.Second
	for begin := time.Now(); time.Since(begin) < limit && ctx.Err() == nil; time.Sleep(look) {
		if changed := r.world.pulse().changed; time.Since(changed) > quiet && time.Since(begin) > quiet {
			return
		}
	}
}

// asOne has the operator see what has changed of each object as one event: by a step, or by two of them.
func (r *run) asOne(ctx context.Context) (bool, error) {
	r.outcome.struck = true
	of := resource{r.plan.Point.Group, r.plan.Point.Resource}
	if r.plan.Kind == Merged {
		of = r.subject()
	}
	if err := r.lab.hold(ctx, r.now.door, of); err != nil {
		return false, err
	}
	ok, err := r.act(ctx)
	if ok && r.plan.Kind == Merged {
		ok, err = r.next(ctx)
	}
	if !ok || err != nil {
		return false, err
	}
	if r.plan.Kind == Coalesced {
		r.idle(ctx, 40*time.Millisecond, time.Second)
	}
	return true, r.lab.release(ctx, r.now.door, of, true)
}

// next does the next step. That after which it comes has no state of its own.
func (r *run) next(ctx context.Context) (bool, error) {
	r.outcome.states = append(r.outcome.states, nil)
	r.step++
	r.world.at(r.step)
	refused, err := r.carryOut(ctx)
	if refused == nil || err != nil {
		return err == nil, err
	}
	of := resource{r.plan.Point.Group, r.plan.Point.Resource}
	if r.plan.Kind == Merged {
		of = r.subject()
	}
	if r.plan.Kind != Early {
		if err := r.lab.release(ctx, r.now.door, of, false); err != nil {
			return false, err
		}
	}
	r.lull(ctx, neverAtRest) // it needs what comes of the step before: users try again
	r.outcome.struck = false
	return r.act(ctx)
}

// twoSteps does the next step before the operator is at rest, or while its watch lags.
func (r *run) twoSteps(ctx context.Context) (bool, error) {
	if ok, err := r.act(ctx); !ok || err != nil {
		return false, err
	}
	if r.plan.Kind == Early {
		r.outcome.struck = true
		r.unrest(ctx)
		return r.next(ctx)
	}
	r.calmDown(ctx)
	r.idle(ctx, 40*time.Millisecond, time.Second)
	if struck, ok := r.world.nextStruck(); ok {
		if err := r.befall(ctx, struck); err != nil {
			return false, err
		}
	}
	ok, err := r.next(ctx)
	if !ok || err != nil {
		return false, err
	}
	r.idle(ctx, 15*time.Millisecond, 300*time.Millisecond)
	r.passed = true
	return true, r.lab.release(ctx, r.now.door, resource{r.plan.Point.Group, r.plan.Point.Resource}, false)
}

// double has a second process of the operator work beside the first one.
func (r *run) double(ctx context.Context) error {
	former := r.now
	next, err := r.take(ctx, r.now.operator.Name, false)
	if err != nil {
		return err
	}
	r.former, r.now, r.fresh, r.used = former, next, true, 0
	return nil
}

// backToFormer goes on with the first of two processes, since the second one does not work beside it.
func (r *run) backToFormer(ctx context.Context) error {
	err := r.kill(ctx, r.now)
	r.now, r.former, r.outcome.struck = r.former, nil, false
	r.now.turn()
	return err
}

// alone ends the former of two processes.
func (r *run) alone(ctx context.Context) error {
	if r.former == nil {
		return nil
	}
	err := r.kill(ctx, r.former)
	r.former = nil
	if err != nil {
		return err
	}
	return r.prepare(ctx)
}

// unrest returns when an operator has begun to work on a step, or soon.
func (r *run) unrest(ctx context.Context) {
	before := r.pulse()
	for limit := time.Now().Add(50 * time.Millisecond); time.Now().Before(limit) && ctx.Err() == nil; time.Sleep(look) {
		if p := r.pulse(); p.changes > before.changes+1 {
			return
		}
	}
}

// subject is the resource of the step's object.
func (r *run) subject() resource { return r.subjectOf(r.step) }

func (r *run) subjectOf(step int) resource {
	_, object := r.scenario.Steps[step].what()
	return r.driver.resourceOf(object)
}

// restartAtRest starts the operator again while nothing is to do.
func (r *run) restartAtRest(ctx context.Context) (bool, error) {
	r.outcome.struck = true
	began := time.Now()
	if err := r.replace(ctx); err != nil {
		return false, err
	}
	goOn, err := r.settle(ctx)
	if err != nil || !goOn {
		return false, err
	}
	requests, changes := r.world.history()
	for _, q := range requests {
		if q.at.After(began) && q.effective && q.operator == r.now.operator.Name && r.ref.matters(q, changes) {
			r.wrong(Symptom{Oracle: WritesAgain, Details: []string{r.ref.point(q).sort().String()}})
			return false, nil
		}
	}
	return true, nil
}

// travel starts the operator again with caches that show an earlier step, and has them catch up once it has done what
// it takes for right. Clients that ask for the newest state do not see the past.
func (r *run) travel(ctx context.Context) (bool, error) {
	past := r.world.stepBegan(r.plan.At.Step)
	if past == 0 {
		return true, nil
	}
	if err := r.kill(ctx, r.now); err != nil {
		return false, err
	}
	inspect := protocol.Inspect{Past: past}
	if r.plan.At.Verb == onlySubject {
		of := r.subjectOf(r.plan.At.Step)
		inspect.PastOf = []string{of.group + "/" + of.name}
	}
	next, err := r.another(ctx, r.now.operator.Name, inspect)
	if err != nil {
		return false, err
	}
	r.now, r.fresh, r.used = next, true, 0
	err = r.comesUp(ctx, r.now)
	r.idle(ctx, restAfterStart, startLimit)
	r.outcome.struck = r.world.wasShown(r.now.door, past)
	if errors.Is(err, ErrUnfit) {
		r.wrong(Symptom{Oracle: Ended, Details: []string{strings.TrimPrefix(err.Error(), ErrUnfit.Error()+": ")}})
		return false, nil
	} else if err != nil {
		return false, err
	}
	if err := r.lab.activate(ctx, r.now.door); err != nil {
		return false, err
	}
	if err := r.prepare(ctx); err != nil {
		return false, err
	}
	return r.settle(ctx)
}

// befall carries out what is not the door's part of a fault that was committed.
func (r *run) befall(ctx context.Context, struck protocol.Report) error {
	r.outcome.struck = true
	switch Kind(struck.Fault) {
	case KilledAfter, KilledBefore:
		return r.replace(ctx)
	case Stale:
		return r.lag(ctx)
	case StaleLong:
		return r.lagLong(ctx)
	case Behind:
		if r.passed { // the write has come after the next step
			return r.lab.release(ctx, r.now.door, resource{r.plan.Point.Group, r.plan.Point.Resource}, false)
		}
	case Overtaken:
		if object := r.driver.named(r.plan.Point); object != nil {
			r.driver.poke(ctx, object)
		}
		return r.lab.resume(ctx, r.now.door, struck.Serial)
	case Failure:
		if r.plan.Then == "" {
			return r.failOn(ctx)
		}
	case Overlap:
		return r.double(ctx)
	case Cut:
		return r.lab.cut(ctx, r.now.door, resource{r.plan.Point.Group, r.plan.Point.Resource})
	case Between:
		if object := r.driver.named(r.plan.Point); object != nil {
			r.driver.poke(ctx, object)
		}
		return r.lab.resume(ctx, r.now.door, struck.Serial)
	}
	return nil
}

// These bound for how long and how often a write fails. The pauses between an operator's attempts double: that after
// the last is about as long as all before it.
const (
	failing  = 600 * time.Millisecond
	attempts = 8
)

// firstPause is what the rate limiter of client-go's queues lets pass between the first failure of a reconcile and the
// next attempt. Each failure doubles it, also of attempts that an event brings before it is over. See
// DefaultTypedControllerRateLimiter in k8s.io/client-go/util/workqueue.
const firstPause = 5 * time.Millisecond

// failOn has a write go on failing until nothing happens, or the operator has tried often.
func (r *run) failOn(ctx context.Context) error {
	r.failures = 1
	count := func() {
		for _, again := r.world.nextStruck(); again; _, again = r.world.nextStruck() {
			r.failures++
		}
	}
	r.lullUnless(ctx, failing, func() bool { count(); return r.failures >= attempts })
	err := r.lab.disarm(ctx, r.now.door)
	count()
	return err
}

// lull waits until neither the operator nor the cluster does anything, but no longer than limit.
func (r *run) lull(ctx context.Context, limit time.Duration) {
	r.lullUnless(ctx, limit, func() bool { return false })
}

// lullUnless does so until enough.
func (r *run) lullUnless(ctx context.Context, limit time.Duration, enough func() bool) {
	const quiet = 40 * time.Millisecond
	for begin := time.Now(); time.Since(begin) < limit && ctx.Err() == nil && !enough(); time.Sleep(look) {
		if p := r.pulse(); p.inFlight == 0 && time.Since(latest(p.last, p.changed, begin)) > quiet {
			return
		}
	}
}

// lag has the operator look again while its watch has not seen what it has written, and then lets the watch go on.
func (r *run) lag(ctx context.Context) error {
	of := resource{r.plan.Point.Group, r.plan.Point.Resource}
	r.idle(ctx, 15*time.Millisecond, 600*time.Millisecond)
	if object := r.toPoke(of); object != nil {
		r.driver.poke(ctx, object)
		r.idle(ctx, 15*time.Millisecond, 600*time.Millisecond)
	}
	return r.lab.release(ctx, r.now.door, of, false)
}

// longLag is longer than the ten seconds that controllers wait at most for their caches, as those of
// sigs.k8s.io/cluster-api do.
const longLag = 12 * time.Second

// lagLong keeps back what the operator has written until it no longer waits for it.
func (r *run) lagLong(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(longLag):
	}
	return r.lab.release(ctx, r.now.door, resource{r.plan.Point.Group, r.plan.Point.Resource}, false)
}

// toPoke is an object whose watch is not held: that of the step, or one that the operator has made.
func (r *run) toPoke(held resource) map[string]any {
	_, object := r.scenario.Steps[r.step].what()
	if r.subject() != held {
		return object
	}
	_, changes := r.world.history()
	for _, c := range changes {
		if c.created && !c.deleted && c.object != nil && metadata(c.object, "namespace") != "" {
			if of := r.driver.resourceOf(c.object); of != held && r.ref.open[watch{r.now.operator.Name, of}] {
				return identity(c.object)
			}
		}
	}
	return nil
}
