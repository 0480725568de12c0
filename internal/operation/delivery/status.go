package delivery

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// An Operator names an operator in a cluster.
type Operator struct {
	In        Target
	Project   string // whose inventory lists its objects; "" is the project of this folder
	Folder    string // kustomization of the project; "" is the one that it deploys
	Namespace string // of the inventory; "" if the cluster has one alone
}

// OperatorState is what an operator in a cluster is like.
type OperatorState struct {
	Project   string `json:"project"`
	Namespace string `json:"namespace,omitempty"` // of the inventory; empty if the operator was deployed without one
	Ready     bool   `json:"ready"`
	ship.State
}

// Status reports what an operator in a cluster is like, and writes nothing there. If something is not ready it is an
// error of the class [report.NotReady].
func Status(ctx context.Context, s *operation.Session, o Operator) (OperatorState, error) {
	cluster, err := reach(s, o.In)
	if err != nil {
		return OperatorState{}, err
	}
	if err := cluster.Ping(ctx); err != nil {
		return OperatorState{}, err
	}
	s.Handler.Handle(report.Step{Name: "looking at the operator"})
	found, members, err := o.members(ctx, s, cluster)
	if err != nil {
		return OperatorState{}, err
	}
	if found.State, err = cluster.State(ctx, members); err != nil {
		return OperatorState{}, err
	}
	found.Ready = found.State.Ready()
	s.Handler.Handle(report.Result{Text: found.text(), Value: found})
	if found.Ready {
		return found, nil
	}
	return found, &report.Error{Class: report.NotReady, What: "the operator " + found.Project + " is not ready, or objects of its kinds are not", Where: cluster.Server(), Unready: found.NotReady}
}

// members returns the objects of the operator as the cluster has them: those of its inventory, else those of the
// project's kustomization that it has.
func (o Operator) members(ctx context.Context, s *operation.Session, cluster *ship.Cluster) (OperatorState, []*unstructured.Unstructured, error) {
	wanted := ship.Set{Project: o.Project, Namespace: o.Namespace, Version: operation.ToolVersion()}
	if o.Project == "" {
		var err error
		if wanted, err = projectSet(s, o.Folder, o.Namespace, operation.NewCommandLine("slipway status", o.In.flags()...)); err != nil {
			return OperatorState{}, nil, err
		}
	}
	found := OperatorState{Project: wanted.Project}
	set, err := placedSet(ctx, cluster, wanted, "slipway status")
	if err == nil {
		found.Namespace = set.Namespace
		members, err := cluster.Members(ctx, set)
		return found, members, err
	}
	if o.Project != "" || !errors.Is(err, errUndeployed) {
		return found, nil, err
	}
	shipment, unbuilt := Prepare(ctx, s, Deployment{To: o.In, Folder: o.Folder})
	if unbuilt != nil {
		return found, nil, err
	}
	members, unread := cluster.Live(ctx, shipment.Objects)
	if unread != nil {
		return found, nil, unread
	}
	if !slices.ContainsFunc(members, func(m *unstructured.Unstructured) bool { return ship.IsWorkload(m) || ship.IsDefinition(m) }) {
		return found, nil, err
	}
	return found, members, nil
}
