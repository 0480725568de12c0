package clusterctl

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// joinTime bounds a real node's way into a cluster, which takes a second.
const joinTime = 90 * time.Second

// Joined is what became of a request that a real node join a cluster.
type Joined struct {
	Cluster string `json:"cluster"`
	Node    string `json:"node,omitempty"`    // the real node that joins; empty if none can, or if the nodes were chosen
	Already bool   `json:"already,omitempty"` // it was there, or real nodes were chosen
	Problem string `json:"problem,omitempty"` // why there is none
}

// Join has a real node join the cluster called name, unless it has one or was started with nodes of one kind. The
// node's program is built if need be. That none can join is reported in the result: the cluster goes on as it is. An
// error is that of the caller's context, or that the cluster does not run.
func (c *Control) Join(ctx context.Context, name string) (Joined, error) {
	s, err := c.running(ctx, name)
	if err != nil {
		return Joined{}, err
	}
	j := Joined{Cluster: s.Name}
	if !s.Nodes.Joins && s.Nodes.Real > 0 { // as was asked for at the start
		j.Already = true
		return j, nil
	}
	if j.Problem = refusal(s.Nodes); j.Problem != "" {
		return j, nil
	}
	var params protocol.JoinNode
	if s.Nodes.Real == 0 {
		if params.Program, err = c.NodeProgram(ctx); err != nil {
			j.Problem = told(err)
			return j, ctx.Err()
		}
	}
	limit, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	var answer protocol.NodeJoined
	if err := c.call(limit, s, "no isolated node can join", "joinNode", params, &answer); err != nil {
		j.Problem = told(err)
		return j, ctx.Err()
	}
	j.Node, j.Already = answer.Name, answer.Already
	return j, nil
}

// refusal says why no isolated node can join nodes of these kinds.
func refusal(n *Nodes) string {
	switch {
	case !n.Joins:
		return "it was started with --nodes or --node; stop it, then `slipway cluster start --nodes real`"
	case runtime.GOOS != "linux":
		return "isolated nodes need Linux"
	}
	return ""
}

// told is an error on one line: why, where that is known.
func told(err error) string {
	if e, ok := errors.AsType[*report.Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}
