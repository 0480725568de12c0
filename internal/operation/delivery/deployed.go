package delivery

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// An Inventory names a deployment of the project in a cluster.
type Inventory struct {
	In        Target
	Namespace string // of the inventory; "" if the cluster has one alone
}

// Deployed reads a deployment from a cluster, which it returns, and writes nothing there. Folder is the kustomization,
// named as in [Deployment].Folder.
func Deployed(ctx context.Context, s *operation.Session, folder string, of Inventory) (Shipment, *ship.Cluster, error) {
	wanted, err := projectSet(s, folder, of.Namespace, operation.NewCommandLine("slipway upgrade", append(of.In.flags(), operation.FlagIf(true, "--from-cluster"))...))
	if err != nil {
		return Shipment{}, nil, err
	}
	cluster, err := reach(s, of.In)
	if err != nil {
		return Shipment{}, nil, err
	}
	set, err := placedSet(ctx, cluster, wanted, "slipway upgrade --from-cluster")
	if err != nil {
		return Shipment{}, nil, err
	}
	objects, err := cluster.Deployed(ctx, set)
	return Shipment{objects, set}, cluster, err
}

// projectSet returns the set of the project's kustomization in a folder, named as in [Deployment].Folder. Again is the
// command line with another folder.
func projectSet(s *operation.Session, folder, namespace string, again operation.CommandLine) (ship.Set, error) {
	root, err := s.ReadRoot()
	if err != nil {
		return ship.Set{}, err
	}
	if folder, err = DeployedFolder(s, root, folder, again); err != nil {
		return ship.Set{}, err
	}
	name, err := ProjectName(root, s.Codebase(root))
	return ship.Set{Project: name, Part: inventoryPart(root, ResolveFolder(root, folder)), Namespace: namespace, Version: operation.ToolVersion()}, err
}

// placedSet returns the only set of the project that the cluster has. Command is the one that -n may be added to.
func placedSet(ctx context.Context, cluster *ship.Cluster, wanted ship.Set, command string) (*ship.Set, error) {
	placed, others, err := cluster.Placed(ctx, wanted)
	if e, ok := errors.AsType[*report.Error](err); ok && wanted.Namespace == "" && apierrors.IsForbidden(err) {
		named := *e
		named.Hint = "-n names the namespace of the deployment: then its ConfigMaps alone are read"
		return nil, &named
	}
	if err != nil {
		return nil, err
	}
	return onlySet(cluster.Server(), wanted, placed, others, command)
}

var errUndeployed = errors.New("slipway deploy has not deployed it there")

// onlySet returns the only set among those that a server has. Others are inventories of other sets.
func onlySet(server string, wanted ship.Set, placed []*ship.Set, others []string, command string) (*ship.Set, error) {
	switch len(placed) {
	case 1:
		return placed[0], nil
	case 0:
		e := &report.Error{What: "the cluster has no deployment of this project", Where: server, Err: errUndeployed, Hint: "it has no inventory " + wanted.Inventory() + inNamespace(wanted.Namespace) +
			": --context names another cluster, and -k another kustomization"}
		if len(others) > 0 {
			e.Hint += "\nit has the inventories " + strings.Join(slices.Sorted(slices.Values(others)), ", ")
		}
		return nil, e
	}
	var namespaces []string
	for _, set := range placed {
		namespaces = append(namespaces, set.Namespace)
	}
	slices.Sort(namespaces)
	return nil, &report.Error{What: "the cluster has several deployments of this project", Where: server, Hint: "they are in the namespaces " + strings.Join(namespaces, ", ") + ": name one with -n",
		Next: command + " -n " + namespaces[0], Code: report.UsageCode}
}

// inNamespace names a namespace for people, if it is given.
func inNamespace(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}
