package clusterctl

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// Stop stops the cluster called name, by force if it does not answer, and undoes
// what Start did: the context, the state and, unless it is durable, the data.
// After a cluster that died it tidies up. Already is set in the status if there was
// nothing to stop.
func (c *Control) Stop(ctx context.Context, name string) (*Status, error) {
	cl, err := c.cluster(name)
	if err != nil {
		return nil, err
	}
	release, err := cl.Hold(ctx, c.waiting(cl))
	if err != nil {
		return nil, err
	}
	defer release()
	keep, unknown := cl.Keeps()
	there, err := c.end(ctx, cl, keep)
	if err != nil {
		return nil, err
	}
	if unknown != nil {
		c.handler.Handle(report.Warning{Text: leftAlone(cl, unknown)})
	}
	return &Status{Name: cl.Name, State: Stopped, Already: !there, Durable: keep}, nil
}

// end is Stop for those who hold the cluster; with keep the data stay. there is false when nothing was to be stopped.
func (c *Control) end(ctx context.Context, cl state.Cluster, keep bool) (there bool, err error) {
	alive, err := cl.Alive()
	if err != nil {
		return false, err
	}
	run, started, err := cl.Run()
	switch {
	case err != nil:
		return false, err
	case alive:
		if err := c.halt(ctx, cl, run); err != nil {
			return true, err
		}
	case started:
		c.handler.Handle(report.Note{Text: "cluster " + cl.Name + " had died already; its remains are removed"})
	}
	return alive || started, c.forget(ctx, cl, keep)
}

// halt ends a running program: by request, or else by force.
func (c *Control) halt(ctx context.Context, cl state.Cluster, run state.Run) error {
	pid, known := protocol.Peer(cl.SocketPath())
	if !known {
		pid = run.PID
	}
	grace, cancel := context.WithTimeout(ctx, c.stop)
	defer cancel()
	if c.requestStop(grace, cl) == nil && cl.WaitDead(grace) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.handler.Handle(report.Warning{Text: "cluster " + cl.Name + " does not stop and is killed"})
	return kill(ctx, cl, pid)
}

// requestStop asks the program to stop and reads its events to the end.
func (c *Control) requestStop(ctx context.Context, cl state.Cluster) error {
	conn, err := protocol.Dial(ctx, cl.SocketPath())
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.Until(ctx)()
	begin := time.Now()
	if err := conn.Call("stop", nil, nil, func(protocol.Event) {}); err != nil {
		return err
	}
	for {
		e, err := conn.Read()
		if err != nil {
			return nil // it ended the connection: whether it lives, the lock tells
		}
		if e.Name == protocol.EventProgress && ends(e.State) {
			c.tell(e, time.Since(begin))
		}
	}
}

// ends tells the events of a stop from those of the start, which the program tells
// every client again.
func ends(s protocol.State) bool {
	return s == protocol.StateStopping || s == protocol.StateStopped
}

// killTime is how long the system may take to end a process that was killed.
const killTime = 5 * time.Second

// kill ends the process that holds the cluster's lock.
func kill(ctx context.Context, cl state.Cluster, pid int) error {
	stuck := &report.Error{Class: report.Conflict, What: "cluster " + cl.Name + " cannot be stopped", Where: cl.Dir,
		Hint: "end the process that holds the file lock in this folder"}
	if pid <= 0 {
		return stuck
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		stuck.Err = err
		return stuck
	}
	ctx, cancel := context.WithTimeout(ctx, killTime)
	defer cancel()
	if err := cl.WaitDead(ctx); err != nil {
		stuck.Err = err
		return stuck
	}
	return nil
}

// forget removes what a run left: the context in the user's kubeconfigs and the state. With keep the data stay.
func (c *Control) forget(ctx context.Context, cl state.Cluster, keep bool) error {
	run, started, err := cl.Run()
	if err != nil {
		return err
	}
	if started {
		if err := c.leave(ctx, cl, run); err != nil {
			return err
		}
	}
	return cl.Clear(keep)
}
