package clusterctl

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// resetTime bounds a reset, which takes milliseconds.
const resetTime = time.Minute

// Reset is what a reset did.
type Reset struct {
	Name string `json:"name"`
	protocol.ResetDone
	Durable bool `json:"durable"` // what was removed was removed from the kept data, too
}

// Reset takes the cluster called name back to where it was when it became ready, or when [Control.Keep]
// was called last: objects that were made since are gone, and those that there were are as they were.
func (c *Control) Reset(ctx context.Context, name string) (*Reset, error) {
	s, err := c.running(ctx, name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, resetTime)
	defer cancel()
	r := &Reset{Name: s.Name, Durable: s.Durable}
	err = c.call(ctx, s, "cluster "+s.Name+" cannot be reset", "reset", nil, &r.ResetDone)
	r.Revision = 0 // it says nothing to users
	return r, err
}

// Kept is what resets lead back to.
type Kept struct {
	Name string `json:"name"`
	protocol.KeepDone
}

// Keep has resets of the cluster called name lead back to what it holds now, until it stops. It waits
// until what was begun is finished, so that it does not begin anew after each reset.
func (c *Control) Keep(ctx context.Context, name string) (*Kept, error) {
	s, err := c.running(ctx, name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, resetTime)
	defer cancel()
	k := &Kept{Name: s.Name}
	return k, c.call(ctx, s, "the state of cluster "+s.Name+" cannot be kept", "keep", nil, &k.KeepDone)
}

// StopNode makes a simulated node of the cluster called name silent, like a machine that was
// switched off: it becomes NotReady, and its pods are evicted in time.
func (c *Control) StopNode(ctx context.Context, name, node string) error {
	return c.callNode(ctx, name, "stopNode", node, "stopped")
}

// StartNode brings a node back that [Control.StopNode] stopped.
func (c *Control) StartNode(ctx context.Context, name, node string) error {
	return c.callNode(ctx, name, "startNode", node, "started")
}

func (c *Control) callNode(ctx context.Context, name, method, node, done string) error {
	s, err := c.running(ctx, name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	return elsewhere(c.call(ctx, s, "node "+node+" cannot be "+done, method, protocol.NodeOf{Name: node}, nil))
}

// elsewhere adds to a refusal what is most likely to help: the node is another cluster's.
func elsewhere(err error) error {
	e, ok := errors.AsType[*report.Error](err)
	if _, refused := errors.AsType[*protocol.Refusal](err); ok && refused {
		e.Hint, e.Next = "--cluster names another cluster", "slipway cluster list"
	}
	return err
}

// running returns the status of a cluster that can be asked for something.
func (c *Control) running(ctx context.Context, name string) (*Status, error) {
	s, err := c.settled(ctx, ctx, name)
	if err != nil {
		return nil, err
	}
	if err := s.Problem(); err != nil {
		return nil, err
	}
	if s.State != Running {
		return nil, &report.Error{Class: report.NotReady, What: "cluster " + s.Name + " is not ready yet", Next: command("status", s.Name)}
	}
	return s, nil
}

// call makes a request of a running cluster; what says what it means that it fails.
func (c *Control) call(ctx context.Context, s *Status, what, method string, params, result any) error {
	cl, err := c.cluster(s.Name)
	if err != nil {
		return err
	}
	if err := request(ctx, cl.SocketPath(), method, params, result); err != nil {
		return unanswered(ctx, s, what, err)
	}
	return nil
}

// unanswered says of a request that failed with err what that means.
func unanswered(ctx context.Context, s *Status, what string, err error) error {
	e := &report.Error{What: what, Where: "cluster " + s.Name, Err: err}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case ctx.Err() != nil:
		e.Class, e.Err = report.Timeout, errors.New("it did not answer in time")
	}
	if _, refused := errors.AsType[*protocol.Refusal](err); !refused {
		e.Next = command("status", s.Name) // it said why if it refused
	}
	return e
}

// request makes one request of the program behind socket.
func request(ctx context.Context, socket, method string, params, result any) error {
	conn, err := protocol.Dial(ctx, socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.Until(ctx)()
	return conn.Call(method, params, result, func(protocol.Event) {})
}
