package operation

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/report"
)

// StopNode has a node of a cluster fall silent, as one does whose machine loses power.
func (s *Session) StopNode(ctx context.Context, cluster, node string) error {
	cluster = s.meant(cluster)
	if err := s.clusters().StopNode(ctx, cluster, node); err != nil {
		return err
	}
	s.reportNode(cluster, node, "is stopped")
	return nil
}

// StartNode brings back a node that was stopped.
func (s *Session) StartNode(ctx context.Context, cluster, node string) error {
	cluster = s.meant(cluster)
	if err := s.clusters().StartNode(ctx, cluster, node); err != nil {
		return err
	}
	s.reportNode(cluster, node, "is started")
	return nil
}

// reportNode answers with what became of a node.
func (s *Session) reportNode(cluster, node, done string) {
	value := struct {
		Cluster string `json:"cluster"`
		Node    string `json:"node"`
	}{cluster, node}
	s.Handler.Handle(report.Result{Text: "node " + node + " " + done, Value: value})
}

// JoinNode has a real node join a cluster with a simulated one.
func (s *Session) JoinNode(ctx context.Context, cluster string) error {
	joined, err := s.clusters().Join(ctx, s.meant(cluster))
	switch {
	case err != nil:
		return err
	case joined.Problem != "":
		return &report.Error{What: "no isolated node can join", Where: "cluster " + joined.Cluster, Err: errors.New(joined.Problem)}
	}
	s.Handler.Handle(report.Result{Text: joinedText(joined), Value: joined})
	return nil
}

// joinedText says what became of a cluster's nodes.
func joinedText(j clusterctl.Joined) string {
	if j.Problem != "" {
		return "pods stay simulated: " + j.Problem
	}
	if j.Node == "" {
		return "cluster " + j.Cluster + " was started with real nodes: pods run on them, and no other node joins"
	}
	return "node " + j.Node + " has joined cluster " + j.Cluster + ": pods of its images run as containers, others stay simulated"
}
