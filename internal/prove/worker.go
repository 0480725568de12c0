package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/protocol"
)

// A Process is one of the operator's.
type Process struct {
	*process.Child
	Turn func() // is called when it is to work; may be nil
	// Panic is the first panic since the last call that the process has recovered from; empty: it knows of none. It may
	// be nil.
	Panic func() string
	Ended func() // is called when it was killed; may be nil
	// Stopped reports whether a debugger keeps it from working; nil: it runs under none.
	Stopped func() bool
}

// running is a process of the operator behind a door.
type running struct {
	door     string
	child    Process
	operator *Operator
}

// A worker carries out runs in one cluster.
type worker struct {
	lab       *lab
	world     *world
	driver    driver
	outside   func(context.Context) error // resets what is there; may be nil
	operators []Operator
	scenario  Scenario

	all   map[*running]bool   // that were started and not ended
	spare map[string]*running // wait behind parked doors, by the names of operators
	warm  []*running          // at rest since the last run, in the order of operators

	panicked string // the first panic in the run that a process has recovered from

	replay
}

// launch starts a process of an operator, behind a door that looks into its requests in some way.
func (w *worker) launch(ctx context.Context, name string, inspect protocol.Inspect) (*running, error) {
	operator := &w.operators[slices.IndexFunc(w.operators, func(o Operator) bool { return o.Name == name })]
	door, err := w.lab.openDoor(ctx, operator.Identity, inspect)
	if err != nil {
		return nil, err
	}
	w.world.enter(door.Name, name)
	start := operator.Launch
	if w.debugged && operator.Debug != nil {
		start = operator.Debug
	}
	child, err := start(door.Kubeconfig)
	if err != nil {
		w.world.leave(door.Name)
		return nil, errors.Join(err, w.lab.closeDoor(ctx, door.Name))
	}
	o := &running{door.Name, child, operator}
	if w.all == nil {
		w.all = map[*running]bool{}
	}
	w.all[o] = true
	return o, nil
}

// take returns a process that has its work before it: the spare one, or a new one.
func (w *worker) take(ctx context.Context, name string, anew bool) (*running, error) {
	if o := w.spare[name]; o != nil && !anew {
		delete(w.spare, name)
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
	return w.another(ctx, name, protocol.Inspect{})
}

// another starts a new process of an operator, which has its work before it.
func (w *worker) another(ctx context.Context, name string, inspect protocol.Inspect) (*running, error) {
	if o := w.spare[name]; o != nil { // two of them may be in each other's way, as by a port
		if err := w.kill(ctx, o); err != nil {
			return nil, err
		}
		delete(w.spare, name)
	}
	o, err := w.launch(ctx, name, inspect)
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

// prepare starts a spare process of each operator, which comes up beside the run.
func (w *worker) prepare(ctx context.Context) error {
	for _, operator := range w.operators {
		if w.spare[operator.Name] != nil || w.shown() {
			continue
		}
		o, err := w.launch(ctx, operator.Name, protocol.Inspect{Park: true})
		if err != nil {
			return err
		}
		if w.spare == nil {
			w.spare = map[string]*running{}
		}
		w.spare[operator.Name] = o
	}
	return nil
}

// kill ends a process as a machine that fails does. If it was the leader its term is over: only time would pass until
// then.
func (w *worker) kill(ctx context.Context, o *running) error {
	delete(w.all, o)
	o.child.Kill()
	<-o.child.Done()
	w.notePanic(o)
	if o.child.Ended != nil {
		o.child.Ended()
	}
	err := w.lab.closeDoor(ctx, o.door) // what it has asked for is reported then
	w.world.leave(o.door)
	if o == w.spare[o.operator.Name] {
		return err
	}
	for _, record := range w.world.terms(o.operator.Name) {
		err = errors.Join(err, w.driver.do(ctx, Step{Delete: record}))
	}
	return err
}

// notePanic notes the first panic of a process since the last call, if no other one has panicked in the run.
func (w *worker) notePanic(o *running) {
	if o.child.Panic == nil {
		return
	}
	if text := o.child.Panic(); w.panicked == "" && text != "" {
		w.panicked = o.prefix() + text
	}
}

// close ends all processes.
func (w *worker) close(ctx context.Context) (err error) {
	for o := range w.all {
		err = errors.Join(err, w.kill(ctx, o))
	}
	w.spare, w.warm = nil, nil
	return errors.Join(err, w.lab.close())
}

// cool ends the processes that are at rest: the next run begins with new ones.
func (w *worker) cool(ctx context.Context) (err error) {
	for _, o := range w.warm {
		err = errors.Join(err, w.kill(ctx, o))
	}
	w.warm = nil
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
