package ship

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// DefaultTimeout is how long is waited for objects that need time.
const DefaultTimeout = time.Minute

// ApplyOptions are the choices of [Cluster.Apply].
type ApplyOptions struct {
	Set     *Set          // whose members the objects are; nil keeps no inventory and removes nothing
	Force   bool          // take over fields that others own
	Consent Consent       // to delete what is left over and may hold data; nil keeps it
	Timeout time.Duration // for definitions to become established, and then for all to be ready; 0 means DefaultTimeout
	Restart []Outdated    // workloads to roll out anew
	Wait    bool          // until all is ready, as AwaitReady does
}

// Consent asks the user whether to delete what may hold data, or what others use.
type Consent func(ctx context.Context, question string) (bool, error)

// Apply makes the cluster hold objects, in the order in which they need each other, and no more of the set than these;
// it reports each as a [report.Object]. It begins only when all kinds are known and the server refuses none of the
// objects on trial, and stops at the first failure, a [report.Error]; applying again continues. With Wait it changes
// what the version of the operator that runs may need only after the new one is ready. See the package's guide.
func (c *Cluster) Apply(ctx context.Context, objects []*unstructured.Unstructured, o ApplyOptions) error {
	if err := c.Ping(ctx); err != nil {
		return err
	}
	if err := c.requireKinds(ctx, objects); err != nil {
		return err
	}
	set := o.Set.inNamespace(c.namespace)
	if err := c.requireNamespaces(ctx, objects, set); err != nil {
		return err
	}
	c.warnOfLoopback(ctx, objects)
	c.warnOfPorts(ctx, objects)
	a := &application{
		cluster: c, membership: membership{set: set}, force: o.Force, patience: patienceOf(o.Timeout),
		interim: map[*unstructured.Unstructured]bool{}, staged: map[string]outcome{},
	}
	inventory, err := a.takeInventory(ctx, objects)
	if err != nil {
		return err
	}
	u, err := a.planUpgrade(ctx, objects, o.Wait)
	if err != nil {
		return err
	}
	if err := u.prepare(ctx, inventory.hooks()); err != nil {
		return err
	}
	if err := inventory.open(ctx); err != nil {
		return err
	}
	if err := u.leaveVersions(ctx); err != nil {
		return err
	}
	for _, shipment := range u.stages() {
		if err := a.ship(ctx, shipment); err != nil {
			return err
		}
		if err := inventory.awaitParent(ctx); err != nil {
			return err
		}
	}
	if err := c.Restart(ctx, o.Restart); err != nil {
		return err
	}
	if err := u.finish(ctx); err != nil {
		return err
	}
	if err := inventory.close(ctx, o.Consent); err != nil {
		return err
	}
	if len(a.leaving) > 0 {
		return c.explainLingering(ctx, a.leaving[0])
	}
	return nil
}

// locate returns where object lives and object itself, with its namespace
// filled in where it needs one. A kind that is not served yet is waited for where
// the cluster has its definition.
func (c *Cluster) locate(ctx context.Context, object *unstructured.Unstructured, patience time.Duration) (dynamic.ResourceInterface, *unstructured.Unstructured, error) {
	kind := object.GroupVersionKind()
	var found metav1.APIResource
	err := poll(ctx, patience, func(ctx context.Context) (bool, error) {
		var err error
		found, err = c.catalog.find(ctx, kind)
		if missing, unserved := errors.AsType[errNoKind](err); unserved {
			return false, c.coming(ctx, missing)
		}
		return true, err
	})
	if err != nil {
		return nil, object, err
	}
	resource := c.objects.Resource(kind.GroupVersion().WithResource(found.Name))
	if !found.Namespaced {
		return resource, withoutNamespace(object), nil
	}
	if object.GetNamespace() == "" {
		object = object.DeepCopy()
		object.SetNamespace(c.namespace)
	}
	return resource.Namespace(object.GetNamespace()), object, nil
}

// withoutNamespace takes away the namespace that kustomize has set on an object of a kind that it does not know to have
// none, such as a ValidatingAdmissionPolicy: it would be known as another object than the cluster's.
func withoutNamespace(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object.GetNamespace() == "" {
		return object
	}
	object = object.DeepCopy()
	object.SetNamespace("")
	return object
}
