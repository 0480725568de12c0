package clusters

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// StopNode has a node of a cluster fall silent, as one does whose machine loses power.
func StopNode(ctx context.Context, s *operation.Session, cluster, node string) error {
	cluster = Meant(s, cluster)
	if err := clusterctl.New(s.Getenv, s.Handler).StopNode(ctx, cluster, node); err != nil {
		return err
	}
	reportNode(s, cluster, node, "is stopped")
	return nil
}

// StartNode brings back a node that was stopped.
func StartNode(ctx context.Context, s *operation.Session, cluster, node string) error {
	cluster = Meant(s, cluster)
	if err := clusterctl.New(s.Getenv, s.Handler).StartNode(ctx, cluster, node); err != nil {
		return err
	}
	reportNode(s, cluster, node, "is started")
	return nil
}

// reportNode answers with what became of a node.
func reportNode(s *operation.Session, cluster, node, done string) {
	value := struct {
		Cluster string `json:"cluster"`
		Node    string `json:"node"`
	}{cluster, node}
	s.Handler.Handle(report.Result{Text: "node " + node + " " + done, Value: value})
}

// JoinNode has a real node join a cluster with a simulated one.
func JoinNode(ctx context.Context, s *operation.Session, cluster string) error {
	joined, err := clusterctl.New(s.Getenv, s.Handler).Join(ctx, Meant(s, cluster))
	switch {
	case err != nil:
		return err
	case joined.Problem != "":
		return &report.Error{What: "no isolated node can join", Where: "cluster " + joined.Cluster, Err: errors.New(joined.Problem)}
	}
	s.Handler.Handle(report.Result{Text: JoinedText(joined), Value: joined})
	return nil
}

// JoinedText says what became of a cluster's nodes.
func JoinedText(j clusterctl.Joined) string {
	if j.Problem != "" {
		return "pods stay simulated: " + j.Problem
	}
	if j.Node == "" {
		return "cluster " + j.Cluster + " was started with real nodes: pods run on them, and no other node joins"
	}
	return "node " + j.Node + " has joined cluster " + j.Cluster + ": pods of its images run as containers, others stay simulated"
}
