package operation

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/kubecontext"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/report"
)

// DefaultCluster is the name of a cluster that has no other.
const DefaultCluster = clusterctl.DefaultName

// ClusterContext is the context of a cluster in the kubeconfig.
func ClusterContext(name string) string { return clusterctl.ContextName(name) }

// ClusterNames lists the clusters of which there is state, without asking them; what cannot be read has no names.
func (s *Session) ClusterNames() []string {
	home, err := state.Locate(s.Getenv)
	if err != nil {
		return nil
	}
	clusters, err := home.Clusters()
	if err != nil {
		return nil
	}
	var names []string
	for _, c := range clusters {
		names = append(names, c.Name)
	}
	return names
}

// meant is the name of the cluster that a user means: the given one, else that of the kubeconfig's current context if
// it is an embedded cluster, else DefaultCluster.
func (s *Session) meant(name string) string {
	if name != "" {
		return name
	}
	files, err := kubecontext.Files(s.Getenv)
	if err != nil {
		return DefaultCluster
	}
	current, err := kubecontext.Current(files)
	if err != nil || current == "" {
		return DefaultCluster
	}
	for _, known := range s.ClusterNames() {
		if clusterctl.ContextName(known) == current {
			return known
		}
	}
	return DefaultCluster
}

// The kinds of nodes that BuildClusterProgram knows.
const (
	SimulatedNodes = "simulated"
	RealNodes      = "real"
)

// BuildClusterProgram makes sure that the program for clusters is there, with its kubectl, or that for nodes of a kind
// which have one, and answers with its path.
func (s *Session) BuildClusterProgram(ctx context.Context, nodes string) error {
	path, err := s.clusterProgram(ctx, nodes)
	if err != nil {
		return err
	}
	value := struct {
		Path string `json:"path"`
	}{path}
	s.Handler.Handle(report.Result{Text: path, Value: value})
	return nil
}

// clusterProgram is the path of that program.
func (s *Session) clusterProgram(ctx context.Context, nodes string) (string, error) {
	switch nodes {
	case SimulatedNodes:
		path, err := s.clusters().Program(ctx)
		if err == nil && s.Getenv("SLIPWAY_CLUSTER") == "" { // the user who names a program decides what is beside it
			_, err = s.clusters().Kubectl(ctx)
		}
		return path, err
	case RealNodes:
		return s.clusters().NodeProgram(ctx)
	}
	return "", &report.Error{What: "unknown kind of nodes", Where: "--nodes " + nodes, Hint: "use simulated or real", Code: mistaken}
}

// StopCluster stops a cluster and takes its context out of the kubeconfig.
func (s *Session) StopCluster(ctx context.Context, name string) error {
	stopped, err := s.clusters().Stop(ctx, s.meant(name))
	if err != nil {
		return err
	}
	text := "cluster " + stopped.Name + " is stopped"
	if stopped.Already {
		text = "cluster " + stopped.Name + " was not running"
	}
	if stopped.Durable {
		text += "; its data are kept"
	}
	s.Handler.Handle(report.Result{Text: text, Value: stopped})
	return nil
}

// DeleteCluster stops a cluster and removes all that is kept of it, durable data too.
func (s *Session) DeleteCluster(ctx context.Context, name string) error {
	deleted, err := s.clusters().Delete(ctx, s.meant(name))
	if err != nil {
		return err
	}
	text := "cluster " + deleted.Name + " is deleted"
	if deleted.Already {
		text = "there is no cluster " + deleted.Name
	}
	s.Handler.Handle(report.Result{Text: text, Value: deleted})
	return nil
}

// ResetCluster takes a running cluster back to where it was when it became ready, or was kept.
func (s *Session) ResetCluster(ctx context.Context, name string) error {
	r, err := s.clusters().Reset(ctx, s.meant(name))
	if err != nil {
		return err
	}
	s.Handler.Handle(report.Result{Text: wasReset(r), Value: r})
	return nil
}

// KeepCluster has resets of a running cluster lead back to what it holds now.
func (s *Session) KeepCluster(ctx context.Context, name string) error {
	k, err := s.clusters().Keep(ctx, s.meant(name))
	if err != nil {
		return err
	}
	s.Handler.Handle(report.Result{Value: k,
		Text: fmt.Sprintf("'slipway cluster reset' now restores cluster %s to its present state, %s", k.Name, count(k.Objects, "object"))})
	return nil
}

// wasReset says what a reset did.
func wasReset(r *clusterctl.Reset) string {
	then, last := "when it became ready", "its last start"
	if r.Kept {
		then, last = "when it was kept", "that time"
	}
	text := fmt.Sprintf("cluster %s is reset to its state %s: %s removed, %d restored, in %.0fms",
		r.Name, then, count(r.Removed, "object"), r.Restored, r.TookMs)
	if r.Durable {
		text += "\nits data on disk are those of " + last
	}
	return text
}
