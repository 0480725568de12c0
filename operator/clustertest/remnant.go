package clustertest

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// remnant is an object that is left in a namespace.
type remnant struct {
	name   string // RESOURCE.GROUP/NAME
	object unstructured.Unstructured
	reason string // why it is there
	going  bool   // the cluster, or the operator whose finalizer it has, is to remove it
}

func (r remnant) String() string { return r.name + ": " + r.reason }

func (r remnant) goes() bool { return r.going }

// same reports whether two looks at a namespace saw one state of one object. A Lease changes as long as its holder
// runs.
func (r remnant) same(other remnant) bool {
	return r.object.GetUID() == other.object.GetUID() &&
		(r.object.GetResourceVersion() == other.object.GetResourceVersion() || r.object.GetKind() == "Lease")
}

// explain finds out of each object why it is there, and whether something is to remove it.
func (c *Cluster) explain(ctx context.Context, left []remnant) error {
	discover, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		return err
	}
	groups, err := restmapper.GetAPIGroupResources(discover)
	if err != nil {
		return err
	}
	o := owners{cluster: c, mapper: restmapper.NewDiscoveryRESTMapper(groups), seen: map[types.UID]*remnant{}}
	for i := range left {
		left[i].going, left[i].reason = false, ""
		o.seen[left[i].object.GetUID()] = &left[i]
	}
	for i := range left {
		if err := o.explain(ctx, &left[i]); err != nil {
			return err
		}
	}
	return nil
}

// owners follows owner references as the garbage collector does.
type owners struct {
	cluster *Cluster
	mapper  meta.RESTMapper
	seen    map[types.UID]*remnant
}

// explain sets the reason of r, after those of its owners. Objects that own each other in a circle stay.
func (w owners) explain(ctx context.Context, r *remnant) error {
	if r.reason != "" {
		return nil
	}
	o := &r.object
	if o.GetDeletionTimestamp() != nil {
		r.going, r.reason = true, "it is being deleted"
		if f := o.GetFinalizers(); len(f) > 0 {
			r.reason += ", and waits for its finalizers: " + strings.Join(f, ", ")
		}
		return nil
	}
	if _, set, _ := unstructured.NestedInt64(o.Object, "spec", "ttlSecondsAfterFinished"); set && o.GetKind() == "Job" {
		r.going, r.reason = w.cluster.settings.collects(), "it is deleted some time after it has finished: ttlSecondsAfterFinished"
		return nil
	}
	r.reason = "it has no owner, and its deletion was not requested"
	for _, owner := range o.GetOwnerReferences() {
		going, reason, err := w.owner(ctx, o.GetNamespace(), owner)
		if err != nil {
			return err
		}
		r.going, r.reason = going, fmt.Sprintf("its owner %s %s %s", owner.Kind, owner.Name, reason)
		if !going {
			break // one owner that stays is enough
		}
	}
	if r.going && !w.cluster.settings.collects() {
		r.going, r.reason = false, r.reason+", and this cluster has no garbage collector: see the option Controllers"
	}
	return nil
}

// owner reports whether an owner is gone or going, and how it is.
func (w owners) owner(ctx context.Context, namespace string, ref metav1.OwnerReference) (going bool, reason string, err error) {
	if known := w.seen[ref.UID]; known != nil {
		if err := w.explain(ctx, known); err != nil {
			return false, "", err
		}
		if known.going {
			return true, "is not gone: " + known.reason, nil
		}
		return false, "stays: " + known.reason, nil
	}
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	mapping, err := w.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return false, "has a kind that the cluster does not know, so the garbage collector leaves it: " + ref.APIVersion, nil
	}
	if err != nil {
		return false, "", err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		namespace = ""
	}
	found, err := w.cluster.dynamic.Resource(mapping.Resource).Namespace(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) || err == nil && found.GetUID() != ref.UID:
		return true, "is gone", nil
	case err != nil:
		return false, "", err
	case found.GetDeletionTimestamp() != nil:
		return true, "is being deleted", nil
	}
	return false, "is there, and its deletion was not requested", nil
}

// collects reports whether the cluster has controllers that delete by themselves. [OnlyControllers] may leave them out.
func (s settings) collects() bool { return s.spec.Controllers == nil || *s.spec.Controllers }
