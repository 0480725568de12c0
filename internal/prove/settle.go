package prove

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// settle waits until the cluster is at rest, and compares it with the reference. It is false if the run cannot go on.
//
// Where the state is as expected, a moment of rest is enough. Only where it is not, the scenario's patience is waited
// for: that is rare.
func (r *run) settle(ctx context.Context) (goOn bool, err error) {
	begin, busy, started := time.Now(), time.Now(), time.Now()
	door := r.now.door
	compared := -1
	var differences []Difference
	for {
		if r.stopped(ctx) { // time does not count meanwhile
			begin, busy, started = time.Now(), time.Now(), time.Now()
		}
		if struck, ok := r.world.nextStruck(); ok {
			if err := r.befall(ctx, struck); err != nil {
				return false, err
			}
			busy, begin = time.Now(), time.Now() // a fault may take longer than a step
		}
		if door != r.now.door { // it was started again
			door, started, begin = r.now.door, time.Now(), time.Now()
		}
		if o := r.ended(); o != nil {
			if o == r.now && r.former != nil { // as where two of them need one port of this machine
				if err := r.backToFormer(ctx); err != nil {
					return false, err
				}
				continue
			}
			r.wrong(Symptom{Oracle: Ended, Details: []string{o.prefix() + fmt.Sprint(o.child.Wait())}})
			return false, nil
		}
		p, now := r.pulse(), time.Now()
		last := latest(p.last, p.changed, busy)
		if p.inFlight == 0 && now.Sub(last) >= look && r.worked() {
			busy, last = now, now
		}
		if r.former != nil && !r.watches(p, r.now) && now.Sub(started) > pollsAfter { // it waits until it is the leader
			if err := r.backToFormer(ctx); err != nil {
				return false, err
			}
			continue
		}
		switch {
		case r.ref == nil:
			// One that asks by the clock, and changes nothing, is at rest, too.
			quiet := max(restLearning, r.given())
			if r.calm {
				quiet = max(controlling, quiet)
			}
			polls := min(now.Sub(p.changed), now.Sub(begin)) >= max(4*restLearning, quiet)
			if p.inFlight == 0 && (now.Sub(last) >= quiet || polls) {
				unmet := r.unmet()
				if unmet == nil {
					objects, gone := r.world.existing()
					r.outcome.raw = append(r.outcome.raw, rest{objects, gone, now.Sub(begin)})
					return true, nil
				}
				unchanged := min(now.Sub(p.changed), now.Sub(begin))
				r.outcome.waited(r.step, unchanged)
				if unchanged > r.patience() {
					r.wrong(Symptom{Oracle: UntilUnmet, Details: unmet})
					return false, nil
				}
			}
		case p.inFlight == 0 && r.watches(p, r.team()...) && r.quiet(p, last, begin, now):
			if p.changes != compared {
				differences = r.differences()
				compared = p.changes
			}
			unmet := r.unmet()
			if len(differences) == 0 && unmet == nil {
				objects, gone := r.world.existing()
				r.outcome.states = append(r.outcome.states, r.ref.canon.state(objects, gone))
				r.fresh = false
				return true, nil
			}
			nothing := min(now.Sub(last), now.Sub(started), now.Sub(begin))
			unchanged := min(now.Sub(p.changed), now.Sub(started), now.Sub(begin))
			settled := nothing > r.patience() || unchanged > max(stillChanging, r.patience()+time.Second)
			if r.learning && unmet == nil && (settled || nothing > max(restLearning, r.given())) {
				objects, gone := r.world.existing()
				r.outcome.states = append(r.outcome.states, r.ref.canon.state(objects, gone))
				return true, nil
			}
			if settled {
				return r.diverged(ctx, differences, unmet)
			}
		}
		if now.Sub(begin) > r.limit() {
			r.wrong(Symptom{Oracle: Restless, Differences: differences, Details: r.whatChanges()})
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-r.world.woken:
		case <-time.After(look):
		}
	}
}

// quiet reports whether nothing has happened for a moment. An operator that asks by the clock is quiet if nothing has
// changed for longer.
func (r *run) quiet(p pulse, last, begin, now time.Time) bool {
	moment := restAsExpected
	if r.fresh {
		moment = restAfterStart
	}
	return now.Sub(last) >= moment && !r.waiting() || min(now.Sub(p.changed), now.Sub(begin)) >= max(restPolling, 5*moment)
}

// patience is how long nothing may happen before another state counts. Clients obey a Retry-After: they sleep. What has
// failed several times is tried again after a pause that has doubled with each.
func (r *run) patience() time.Duration {
	patience := max(cmp.Or(r.given(), usualPatience), 2*r.pause(), 2*firstPause<<r.failures)
	if r.ref == nil && r.scenario.Steps[r.step].Until != nil {
		patience = cmp.Or(r.given(), untilPatience)
	}
	if r.calm {
		patience = max(confirming, patience)
	}
	return patience + time.Duration(answers[r.plan.Kind].RetryAfter)*time.Second
}

// limit is how long a step may take: while learning as long as an operator may reasonably work, and then as long as it
// has worked, and some time more.
func (r *run) limit() time.Duration {
	if r.ref == nil || r.learning {
		return longestWork + r.patience()
	}
	return neverAtRest + r.patience() + r.ref.took[r.step]
}

func latest(times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// diverged notes that the state is another one or that the step's condition does not hold, and whether a restart of the
// operator heals it: then it has missed something, else it has done something that it does not undo.
func (r *run) diverged(ctx context.Context, differences []Difference, unmet []string) (bool, error) {
	s := Symptom{Oracle: Diverged, Step: r.step, Differences: differences, Details: unmet}
	if len(differences) == 0 {
		s.Oracle = UntilUnmet
	}
	if object := r.scenario.Steps[r.step].Delete; object != nil {
		s.Stuck = r.world.has(object)
		s.Gone = !s.Stuck
	}
	if r.calm && !r.shown() {
		if err := r.replace(ctx); err != nil {
			return false, err
		}
		healed := r.heals(ctx)
		s.Healed = &healed
	}
	r.outcome.symptoms = append(r.outcome.symptoms, s)
	return false, nil
}

// heals reports whether the state becomes as expected after a restart.
func (r *run) heals(ctx context.Context) bool {
	patience := max(3*time.Second, 2*r.pause()) // behind the start
	begun := time.Now()
	for limit := begun.Add(startLimit); time.Now().Before(limit) && ctx.Err() == nil; time.Sleep(look) {
		p := r.pulse()
		if !r.watches(p, r.now) {
			begun = time.Now()
			continue
		}
		if time.Since(p.changed) > restAfterStart && len(r.differences()) == 0 && r.unmet() == nil {
			return true
		}
		if time.Since(latest(begun, p.changed)) > patience {
			return false
		}
	}
	return false
}

// differences are those of the state from the reference's. Where two steps run into each other, Kubernetes may have
// made other objects on the way, and those of a step that ends with a deletion may never have been made.
func (r *run) differences() []Difference {
	objects, gone := r.world.existing()
	all := r.ref.compare(r.ref.canon.state(objects, gone), r.step)
	if !r.plan.Kind.mayWander() {
		return all
	}
	deletes := r.step < len(r.scenario.Steps) && r.scenario.Steps[r.step].mayDelete()
	return slices.DeleteFunc(all, func(d Difference) bool {
		return d.Want == presence && d.Field == "" && deletes || d.Field == revisionAnnotation || !r.ref.isStrict(d.Object) || r.recalls(d)
	})
}

// recalls reports whether there only lacks what comes of the way to the state: a time at which something was done, or
// what a status keeps of the step before.
func (r *run) recalls(d Difference) bool {
	if d.Got != "" || d.Field == "" {
		return false
	}
	return d.Want == someTime || strings.HasPrefix(d.Field, "status.") && r.step > 0 && r.ref.states[r.step-1][d.Object][d.Field] == d.Want
}

// revisionAnnotation counts the changes of a Deployment's template.
const revisionAnnotation = "metadata.annotations.[deployment.kubernetes.io/revision]"

// whatChanges are the objects that change most often in the step, the first one most often, and by whom.
func (r *run) whatChanges() (names []string) {
	requests, changes := r.world.history()
	its := map[string]bool{} // versions that the operator has written
	for _, q := range requests {
		its[q.version] = its[q.version] || q.effective
	}
	times, own := map[string]int{}, map[string]int{}
	for _, c := range changes {
		if c.step == r.step && c.object != nil {
			name := identify(text(c.object["kind"]), metadata(c.object, "namespace"), metadata(c.object, "name"))
			times[name]++
			if its[fmt.Sprint(c.revision)] {
				own[name]++
			}
		}
	}
	often := slices.SortedFunc(maps.Keys(times), func(a, b string) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), strings.Compare(a, b))
	})
	for _, name := range often {
		if times[name] > 5 {
			names = append(names, fmt.Sprintf("%s was changed %d times, %d of them by the operator", name, times[name], own[name]))
		}
	}
	if len(names) == 0 && len(changes) > 0 {
		names = []string{fmt.Sprintf("the last change was %.1f s before the limit of %.0f s", time.Since(changes[len(changes)-1].at).Seconds(), r.limit().Seconds())}
	}
	return names
}
