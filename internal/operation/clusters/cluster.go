// Package clusters is what can be done to embedded clusters: start them, look at them, reset and stop them.
package clusters

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/kubecontext"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// DefaultCluster is the name of a cluster that has no other.
const DefaultCluster = clusterctl.DefaultName

// ClusterContext is the context of a cluster in the kubeconfig.
func ClusterContext(name string) string { return clusterctl.ContextName(name) }

// Names lists the clusters of which there is state, without asking them; what cannot be read has no names.
func Names(s *operation.Session) []string {
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

// ResolveName is the name of the cluster that a user means: the given one, else that of the kubeconfig's current
// context if it is an embedded cluster, else DefaultCluster.
func ResolveName(s *operation.Session, name string) string {
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
	for _, known := range Names(s) {
		if clusterctl.ContextName(known) == current {
			return known
		}
	}
	return DefaultCluster
}

// The kinds of nodes that BuildProgram knows.
const (
	SimulatedNodes = "simulated"
	realNodes      = "real"
)

// BuildProgram makes sure that the program for clusters is there, with its kubectl, or that for nodes of a kind
// which have one, and returns its path.
func BuildProgram(ctx context.Context, s *operation.Session, nodes string) (string, error) {
	path, err := clusterProgram(ctx, s, nodes)
	if err != nil {
		return "", err
	}
	value := struct {
		Path string `json:"path"`
	}{path}
	s.Handler.Handle(report.Result{Text: path, Value: value})
	return path, nil
}

// clusterProgram is the path of that program.
func clusterProgram(ctx context.Context, s *operation.Session, nodes string) (string, error) {
	switch nodes {
	case SimulatedNodes:
		path, err := clusterctl.New(s.Getenv, s.Handler).Program(ctx)
		if err == nil && s.Getenv("SLIPWAY_CLUSTER") == "" { // the user who names a program decides what is beside it
			_, err = clusterctl.New(s.Getenv, s.Handler).Kubectl(ctx)
		}
		return path, err
	case realNodes:
		return clusterctl.New(s.Getenv, s.Handler).NodeProgram(ctx)
	}
	return "", &report.Error{What: "unknown kind of nodes", Where: "--nodes " + nodes, Hint: "use simulated or real"}
}

// Stop stops a cluster and takes its context out of the kubeconfig. It returns how the cluster is then.
func Stop(ctx context.Context, s *operation.Session, name string) (*clusterctl.Status, error) {
	stopped, err := clusterctl.New(s.Getenv, s.Handler).Stop(ctx, ResolveName(s, name))
	if err != nil {
		return nil, err
	}
	text := "cluster " + stopped.Name + " is stopped"
	if stopped.Already {
		text = "cluster " + stopped.Name + " was not running"
	}
	if stopped.Durable {
		text += "; its data are kept"
	}
	s.Handler.Handle(report.Result{Text: text, Value: stopped})
	return stopped, nil
}

// Delete stops a cluster and removes all that is kept of it, durable data too. It returns how the
// cluster is then; Already says that there was none.
func Delete(ctx context.Context, s *operation.Session, name string) (*clusterctl.Status, error) {
	deleted, err := clusterctl.New(s.Getenv, s.Handler).Delete(ctx, ResolveName(s, name))
	if err != nil {
		return nil, err
	}
	text := "cluster " + deleted.Name + " is deleted"
	if deleted.Already {
		text = "there is no cluster " + deleted.Name
	}
	s.Handler.Handle(report.Result{Text: text, Value: deleted})
	return deleted, nil
}

// Reset takes a running cluster back to where it was when it became ready, or was kept.
func Reset(ctx context.Context, s *operation.Session, name string) (*clusterctl.Reset, error) {
	r, err := clusterctl.New(s.Getenv, s.Handler).Reset(ctx, ResolveName(s, name))
	if err != nil {
		return nil, err
	}
	s.Handler.Handle(report.Result{Text: wasReset(r), Value: r})
	return r, nil
}

// Keep has resets of a running cluster lead back to what it holds now.
func Keep(ctx context.Context, s *operation.Session, name string) (*clusterctl.Kept, error) {
	k, err := clusterctl.New(s.Getenv, s.Handler).Keep(ctx, ResolveName(s, name))
	if err != nil {
		return nil, err
	}
	s.Handler.Handle(report.Result{Value: k,
		Text: fmt.Sprintf("'slipway cluster reset' now restores cluster %s to its present state, %s", k.Name, operation.Count(k.Objects, "object"))})
	return k, nil
}

// wasReset says what a reset did.
func wasReset(r *clusterctl.Reset) string {
	then, last := "when it became ready", "its last start"
	if r.Kept {
		then, last = "when it was kept", "that time"
	}
	text := fmt.Sprintf("cluster %s is reset to its state %s: %s removed, %d restored, in %.0fms",
		r.Name, then, operation.Count(r.Removed, "object"), r.Restored, r.TookMs)
	if r.Durable {
		text += "\nits data on disk are those of " + last
	}
	return text
}
