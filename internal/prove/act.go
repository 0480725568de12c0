package prove

import (
	"context"
	"time"
)

// act carries out the step; it is false if the cluster refuses it, or if its command fails.
func (r *run) act(ctx context.Context) (bool, error) {
	refused, err := r.carryOut(ctx)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil && refused != nil {
		r.wrong(Symptom{Oracle: StepRefused, Details: []string{refused.Error()}})
	}
	return refused == nil && err == nil, err
}

// carryOut does what the step says. A command may wait for the operator: the faults meanwhile are completed, as in
// settle, since else an operator that was killed would not be started again.
func (r *run) carryOut(ctx context.Context) (refused, err error) {
	step := r.scenario.Steps[r.step]
	if step.Exec == nil {
		return r.driver.do(ctx, step), nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- r.driver.do(ctx, step) }()
	for {
		for struck, ok := r.world.nextStruck(); ok && err == nil; struck, ok = r.world.nextStruck() {
			if err = r.befall(ctx, struck); err != nil {
				cancel()
			}
		}
		select {
		case refused = <-done:
			return refused, err
		case <-r.world.woken:
		case <-time.After(look):
		}
	}
}
