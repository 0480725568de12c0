package clusters

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// A Node is one of a cluster; the JSON form is stable.
type Node struct {
	Cluster string `json:"cluster"`
	Name    string `json:"node"`
}

// StopNode has a node of a cluster fall silent, as one does whose machine loses power.
func StopNode(ctx context.Context, s *operation.Session, cluster, node string) (Node, error) {
	cluster = ResolveName(s, cluster)
	if err := clusterctl.New(s.Getenv, s.Handler).StopNode(ctx, cluster, node); err != nil {
		return Node{}, err
	}
	return reportNode(s, Node{cluster, node}, "is stopped"), nil
}

// StartNode brings back a node that was stopped.
func StartNode(ctx context.Context, s *operation.Session, cluster, node string) (Node, error) {
	cluster = ResolveName(s, cluster)
	if err := clusterctl.New(s.Getenv, s.Handler).StartNode(ctx, cluster, node); err != nil {
		return Node{}, err
	}
	return reportNode(s, Node{cluster, node}, "is started"), nil
}

// reportNode answers with what became of a node, which it returns.
func reportNode(s *operation.Session, n Node, done string) Node {
	s.Handler.Handle(report.Result{Text: "node " + n.Name + " " + done, Value: n})
	return n
}

// JoinNode has a real node join a cluster with a simulated one.
func JoinNode(ctx context.Context, s *operation.Session, cluster string) (clusterctl.Joined, error) {
	joined, err := clusterctl.New(s.Getenv, s.Handler).Join(ctx, ResolveName(s, cluster))
	switch {
	case err != nil:
		return clusterctl.Joined{}, err
	case joined.Problem != "":
		return clusterctl.Joined{}, &report.Error{What: "no isolated node can join", Where: "cluster " + joined.Cluster, Err: errors.New(joined.Problem)}
	}
	s.Handler.Handle(report.Result{Text: DescribeJoin(joined), Value: joined})
	return joined, nil
}

// DescribeJoin is what people read of a node that was to join a cluster, whether it did or not.
func DescribeJoin(j clusterctl.Joined) string {
	if j.Problem != "" {
		return "pods stay simulated: " + j.Problem
	}
	if j.Node == "" {
		return "cluster " + j.Cluster + " was started with real nodes: pods run on them, and no other node joins"
	}
	return "node " + j.Node + " has joined cluster " + j.Cluster + ": pods of its images run as containers, others stay simulated"
}
