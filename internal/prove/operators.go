package prove

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// An Operator is one of the programs that are proved together.
type Operator struct {
	Name string // empty if there is only one
	// Launch starts a process of the operator that comes in by a kubeconfig.
	Launch func(kubeconfig string) (Process, error)
	// Debug starts the process of a replay, under a debugger; nil: Launch does.
	Debug func(kubeconfig string) (Process, error)
	// Interrupt has the operator's webhooks refuse all calls, or no longer, and returns how many were refused until
	// then; nil: it serves none.
	Interrupt func(down bool) int
	// Identity is whom the API server takes the operator for.
	Identity Identity
}

// A watch is one that an operator has.
type watch struct {
	operator string
	resource
}

// team is the process that the run's fault is for, and those of the other operators beside it.
func (r *run) team() []*running { return append([]*running{r.now}, r.others...) }

// pulse is that of all operators. A former process counts, but has none of the watches that its successor needs.
func (r *run) pulse() pulse {
	var doors []string
	for _, o := range r.team() {
		doors = append(doors, o.door)
	}
	p := r.world.pulse(doors...)
	if r.former != nil {
		former := r.world.pulse(r.former.door)
		p.inFlight, p.missed, p.last = p.inFlight+former.inFlight, p.missed+former.missed, latest(p.last, former.last)
	}
	return p
}

// knowsAll reports whether all operators were sent the deletions of what they watch.
func (r *run) knowsAll() bool {
	return !slices.ContainsFunc(r.team(), func(o *running) bool { return !r.world.knowsAll(o.door) })
}

// ended is an operator that has ended by itself; nil if there is none.
func (r *run) ended() *running {
	for _, o := range r.team() {
		select {
		case <-o.child.Done():
			return o
		default:
		}
	}
	return nil
}

// computed is the processor time of all operators, and of what they have started.
func (r *run) computed() (used time.Duration) {
	for _, o := range r.team() {
		used += processorTime(o.child.PID())
	}
	if r.former != nil {
		used += processorTime(r.former.child.PID())
	}
	return used
}

// waiting reports whether an operator would go on if it got a processor.
func (r *run) waiting() bool {
	return slices.ContainsFunc(r.team(), func(o *running) bool { return waits(o.child.PID()) })
}

// gather has a process of each operator ready for the run: those that are at rest since the last one, or others.
func (r *run) gather(ctx context.Context) error {
	team := r.warm
	r.warm = nil
	for _, operator := range r.operators[len(team):] {
		o, err := r.take(ctx, operator.Name, r.calm)
		if err != nil {
			return err
		}
		team = append(team, o)
		r.fresh = true
	}
	for _, o := range team {
		if r.now == nil && (o.operator.Name == r.plan.Point.Operator || r.plan.Point.Operator == "") {
			r.now = o
		} else {
			r.others = append(r.others, o)
		}
	}
	if r.now == nil {
		return fmt.Errorf("there is no operator %s", r.plan.Point.Operator)
	}
	for _, o := range team {
		r.notePanic(o)
	}
	r.panicked = "" // what was before is not of this run
	r.outcome.watching = map[watch]bool{}
	if !r.fresh {
		return r.forget(ctx)
	}
	for _, o := range team {
		if err := r.comesUp(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// ordered are the processes in the order of the operators.
func (r *run) ordered() (team []*running) {
	for i := range r.operators {
		for _, o := range r.team() {
			if o.operator == &r.operators[i] {
				team = append(team, o)
			}
		}
	}
	return team
}

// prefix names the operator of a process in messages, where there are several.
func (o *running) prefix() string {
	if o.operator.Name == "" {
		return ""
	}
	return o.operator.Name + ": "
}

// operators are the names of those that have changed something, or the empty one if they have none.
func (ref *Reference) operators() (names []string) {
	for _, r := range ref.requests {
		if r.effective && !slices.Contains(names, r.operator) {
			names = append(names, r.operator)
		}
	}
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// disperse ends the processes of all operators.
func (r *run) disperse(ctx context.Context) error {
	for _, o := range r.team() {
		if err := r.kill(ctx, o); err != nil {
			return err
		}
	}
	return nil
}
