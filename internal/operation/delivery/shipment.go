package delivery

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/addon"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/ship"
)

// A Shipment is a deployment that is built: its objects and their inventory.
type Shipment struct {
	Objects []*unstructured.Unstructured
	set     *ship.Set
}

// Prepare builds a deployment. It writes no file of the project, and changes no cluster.
func Prepare(ctx context.Context, s *operation.Session, d Deployment) (Shipment, error) {
	online, end := Online(ctx, s, false)
	defer end()
	_, shipment, err := d.prepare(online, s, true)
	return shipment, err
}

// prepare builds a deployment of the project, whose root it returns. With look, nothing that is generated is written,
// and what ctx does not allow is not fetched.
func (d *Deployment) prepare(ctx context.Context, s *operation.Session, look bool) (root string, _ Shipment, err error) {
	if root, err = configRoot(s, d.Folder, d.again); err != nil {
		return "", Shipment{}, err
	}
	if d.applied, err = DeployedFolder(s, root, d.Folder, d.again); err != nil {
		return "", Shipment{}, err
	}
	if err := reachable(s, d.To, d.Preview); err != nil {
		return "", Shipment{}, err
	}
	building, end := Online(ctx, s, look)
	defer end()
	objects, err := buildDeployment(building, s, root, *d, look)
	if err != nil {
		return "", Shipment{}, err
	}
	set, err := deploymentSet(s, root, ResolveFolder(root, d.applied), objects)
	return root, Shipment{objects, set}, err
}

// Deploy applies a shipment to a cluster whose objects are all dispensable, and waits until it is ready.
func (sh Shipment) Deploy(ctx context.Context, cluster *ship.Cluster) error {
	dispensable := func(context.Context, string) (bool, error) { return true, nil }
	return cluster.Apply(ctx, sh.Objects, ship.ApplyOptions{Set: sh.set, Force: true, Timeout: DeployTimeout, Consent: dispensable, Wait: true})
}

// PrepareObjects is the deployment of objects that are built already, as of a released manifest, in the inventory of
// the project's kustomization in a folder, named as in [Deployment].Folder.
func PrepareObjects(s *operation.Session, folder string, objects []*unstructured.Unstructured) (Shipment, error) {
	root, err := s.ReadRoot()
	if err != nil {
		return Shipment{}, err
	}
	if folder, err = DeployedFolder(s, root, folder, operation.NewCommandLine("slipway upgrade")); err != nil {
		return Shipment{}, err
	}
	set, err := deploymentSet(s, root, ResolveFolder(root, folder), objects)
	return Shipment{objects, set}, err
}

// NeededAddons are the add-ons that bring kinds of objects which a cluster lacks.
func NeededAddons(ctx context.Context, cluster *ship.Cluster, objects []*unstructured.Unstructured) (names []string) {
	for _, o := range objects {
		brings := addon.ForGroup(o.GroupVersionKind().Group)
		if brings != nil && !slices.Contains(names, brings.Name) && cluster.Lacks(ctx, o.GroupVersionKind()) {
			names = append(names, brings.Name)
		}
	}
	return names
}
