package ship

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/csaupgrade"
)

// DefaultTimeout is how long is waited for objects that need time.
const DefaultTimeout = time.Minute

// ApplyOptions are the choices of [Cluster.Apply].
type ApplyOptions struct {
	Force   bool          // take over fields that others own
	Timeout time.Duration // for definitions to become established; 0 means DefaultTimeout
}

// Apply makes the cluster hold objects, in the order in which they need each
// other, and reports each as a [report.Object]. It begins only when all kinds are known, and stops at the first failure,
// a [report.Error]; applying again continues. See the package's guide.
func (c *Cluster) Apply(ctx context.Context, objects []*unstructured.Unstructured, o ApplyOptions) error {
	if err := c.Ping(ctx); err != nil {
		return err
	}
	if err := c.requireKinds(ctx, objects); err != nil {
		return err
	}
	c.warnOfLoopback(ctx, objects)
	c.warnOfPorts(ctx, objects)
	a := application{cluster: c, force: o.Force, patience: patienceOf(o.Timeout)}
	for _, shipment := range shipments(objects) {
		if err := a.ship(ctx, shipment); err != nil {
			return err
		}
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
		return resource, object, nil
	}
	if object.GetNamespace() == "" {
		object = object.DeepCopy()
		object.SetNamespace(c.namespace)
	}
	return resource.Namespace(object.GetNamespace()), object, nil
}

// clientSide is the field manager of `kubectl apply` without --server-side.
const clientSide = "kubectl-client-side-apply"

// adopt makes ours what `kubectl apply` of the same manifests brought to the cluster, as kubectl itself does when it is told
// to apply on the server's side from now on. Without it each field that changed since would be a conflict with oneself. An object
// that somebody changes meanwhile, as controllers do while pods come and go, is looked at again.
func adopt(ctx context.Context, resource dynamic.ResourceInterface, live *unstructured.Unstructured, patience time.Duration) (*unstructured.Unstructured, error) {
	name := live.GetName()
	err := poll(ctx, patience, func(ctx context.Context) (bool, error) {
		patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(clientSide, FieldManager), FieldManager)
		if err != nil || patch == nil {
			return true, err
		}
		adopted, err := resource.Patch(ctx, name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
		if err == nil {
			live = adopted
			return true, nil
		}
		if !apierrors.IsConflict(err) {
			return false, err
		}
		live, err = resource.Get(ctx, name, metav1.GetOptions{})
		return false, err
	})
	return live, err
}
