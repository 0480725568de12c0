package prove

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/internal/process"
)

// An Operator is what is proved: a program that gets a kubeconfig.
type Operator struct {
	// Launch starts a process of the operator that comes in by a kubeconfig.
	Launch func(kubeconfig string) (*process.Child, error)
	// Identity is whom the API server takes it for.
	Identity Identity
}

// running is a process of the operator.
type running struct {
	door  string
	child *process.Child
	began time.Time
}

// A worker carries out runs in one cluster.
type worker struct {
	lab      *lab
	world    *world
	driver   driver
	operator Operator
	scenario Scenario
	varies   func(object string) bool

	spare *running // waits behind a parked door
	warm  *running // at rest since the last run
}

// launch starts a process of the operator.
func (w *worker) launch(ctx context.Context, park bool) (*running, error) {
	door, err := w.lab.openDoor(ctx, w.operator.Identity, park)
	if err != nil {
		return nil, err
	}
	w.world.enter(door.Name)
	child, err := w.operator.Launch(door.Kubeconfig)
	if err != nil {
		w.world.leave(door.Name)
		return nil, errors.Join(err, w.lab.closeDoor(ctx, door.Name))
	}
	return &running{door: door.Name, child: child, began: time.Now()}, nil
}

// take returns a process that has its work before it: the spare one, or a new one.
func (w *worker) take(ctx context.Context) (*running, error) {
	o := w.spare
	w.spare = nil
	if o != nil {
		select {
		case <-o.child.Done(): // it did not wait
			if err := w.kill(ctx, o); err != nil {
				return nil, err
			}
		default:
			return o, w.lab.activate(ctx, o.door)
		}
	}
	return w.launch(ctx, false)
}

// prepare starts a spare process, which comes up beside the run.
func (w *worker) prepare(ctx context.Context) (err error) {
	if w.spare == nil {
		w.spare, err = w.launch(ctx, true)
	}
	return err
}

// kill ends a process as a machine that fails does.
func (w *worker) kill(ctx context.Context, o *running) error {
	o.child.Kill()
	<-o.child.Done()
	w.world.leave(o.door)
	return w.lab.closeDoor(ctx, o.door)
}

// close ends all processes.
func (w *worker) close(ctx context.Context) (err error) {
	for _, o := range []*running{w.spare, w.warm} {
		if o != nil {
			err = errors.Join(err, w.kill(ctx, o))
		}
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
	return nil
}
