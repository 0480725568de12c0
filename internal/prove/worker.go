package prove

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/internal/process"
)

// A Process is one of the operator's.
type Process struct {
	*process.Child
	Turn func() // is called when it is to work; may be nil
	// Stopped reports whether a debugger keeps it from working; nil: it runs under none.
	Stopped func() bool
}

// running is a process of the operator behind a door.
type running struct {
	door  string
	child Process
}

// A worker carries out runs in one cluster.
type worker struct {
	lab      *lab
	world    *world
	driver   driver
	launcher func(kubeconfig string) (Process, error)
	outside  func(context.Context) error              // resets what is there; may be nil
	debugger func(kubeconfig string) (Process, error) // starts it under a debugger; nil: there is none
	identity Identity
	scenario Scenario

	all   map[*running]bool // that were started and not ended
	spare *running          // waits behind a parked door
	warm  *running          // at rest since the last run

	replay
}

// launch starts a process of the operator.
func (w *worker) launch(ctx context.Context, park bool) (*running, error) {
	door, err := w.lab.openDoor(ctx, w.identity, park)
	if err != nil {
		return nil, err
	}
	w.world.enter(door.Name)
	child, err := w.launcher(door.Kubeconfig)
	if err != nil {
		w.world.leave(door.Name)
		return nil, errors.Join(err, w.lab.closeDoor(ctx, door.Name))
	}
	o := &running{door.Name, child}
	if w.all == nil {
		w.all = map[*running]bool{}
	}
	w.all[o] = true
	return o, nil
}

// take returns a process that has its work before it: the spare one, or a new one.
func (w *worker) take(ctx context.Context, anew bool) (*running, error) {
	if o := w.spare; o != nil && !anew {
		w.spare = nil
		select {
		case <-o.child.Done(): // it did not wait
			if err := w.kill(ctx, o); err != nil {
				return nil, err
			}
		default:
			o.turn()
			return o, w.lab.activate(ctx, o.door)
		}
	}
	if w.spare != nil { // two of them may be in each other's way, as by a port
		if err := w.kill(ctx, w.spare); err != nil {
			return nil, err
		}
		w.spare = nil
	}
	o, err := w.launch(ctx, false)
	if err == nil {
		o.turn()
	}
	return o, err
}

func (o *running) turn() {
	if o.child.Turn != nil {
		o.child.Turn()
	}
}

// prepare starts a spare process, which comes up beside the run.
func (w *worker) prepare(ctx context.Context) (err error) {
	if w.spare == nil && !w.shown() {
		w.spare, err = w.launch(ctx, true)
	}
	return err
}

// kill ends a process as a machine that fails does. If it was the leader its term is over: only time would pass until
// then.
func (w *worker) kill(ctx context.Context, o *running) error {
	delete(w.all, o)
	o.child.Kill()
	<-o.child.Done()
	err := w.lab.closeDoor(ctx, o.door) // what it has asked for is reported then
	w.world.leave(o.door)
	if o == w.spare {
		return err
	}
	for _, record := range w.world.terms() {
		err = errors.Join(err, w.driver.do(ctx, Step{Delete: record}))
	}
	return err
}

// close ends all processes.
func (w *worker) close(ctx context.Context) (err error) {
	for o := range w.all {
		err = errors.Join(err, w.kill(ctx, o))
	}
	w.spare, w.warm = nil, nil
	return errors.Join(err, w.lab.close())
}

// cool ends the process that is at rest: the next run begins with a new one.
func (w *worker) cool(ctx context.Context) (err error) {
	if w.warm != nil {
		err = w.kill(ctx, w.warm)
		w.warm = nil
	}
	return err
}

// reset brings the cluster back to its baseline.
func (w *worker) reset(ctx context.Context) error {
	revision, err := w.lab.reset(ctx)
	if err != nil {
		return fmt.Errorf("reset the cluster: %w", err)
	}
	w.world.begin(revision)
	if w.outside != nil {
		return w.outside(ctx)
	}
	return nil
}
