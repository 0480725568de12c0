package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/slipway-dev/slipway/internal/ending"
)

// paused is a workload that a detour scales to zero, with who owned its number of replicas.
type paused struct {
	schema.GroupVersionKind `json:"kind"`
	Namespace               string                      `json:"namespace"`
	Name                    string                      `json:"name"`
	UID                     types.UID                   `json:"uid"`
	Replicas                int64                       `json:"replicas"`
	Owners                  []metav1.ManagedFieldsEntry `json:"owners,omitempty"`
}

// replicasPath is where workloads have their number of replicas.
var replicasPath = fieldpath.MakePathOrDie("spec", "replicas")

// neverMatches has an API server not call a webhook. See matchConditions in
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/.
var neverMatches = map[string]any{"name": "paused.slipway.dev", "expression": "false"}

// PlanPause looks what [Cluster.Pause] has to change so that a deployed operator does nothing, and changes nothing: the
// Deployments and StatefulSets among its objects that have replicas, and the webhooks that lead to Services among them.
func (c *Cluster) PlanPause(ctx context.Context, objects []*unstructured.Unstructured) (*Detour, error) {
	d := &Detour{Cluster: c.identity(ctx), Server: c.server}
	services := map[types.NamespacedName]bool{}
	for _, o := range objects {
		if o.GroupVersionKind().GroupKind() == (schema.GroupKind{Kind: "Service"}) {
			services[types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}] = true
		}
	}
	for _, o := range objects {
		hooks, defines := slices.Contains(hookKinds, o.GroupVersionKind().GroupKind()), o.GroupVersionKind().GroupKind() == crdKind
		if !hooks && !defines && !isScaled(o) {
			continue
		}
		resource, located, err := c.locate(ctx, o, 0)
		if err != nil {
			return nil, c.explainObject(ctx, o, err)
		}
		live, err := existing(ctx, resource, located.GetName())
		if err != nil {
			return nil, c.explainObject(ctx, o, err)
		}
		switch {
		case live == nil:
		case defines:
			service, _, _ := unstructured.NestedMap(live.Object, "spec", "conversion", "webhook", "clientConfig", "service")
			if isIn(services, service) {
				d.Converted = append(d.Converted, live.GetName())
			}
		case hooks:
			if silent := silenced(live, services); silent != nil {
				d.wanted = append(d.wanted, silent)
				d.Silent = append(d.Silent, configured{o.GroupVersionKind(), live.GetName()})
			}
		case replicasOf(live) > 0:
			owners, err := ownersOf(live, replicasPath)
			if err != nil {
				return nil, err
			}
			d.Paused = append(d.Paused, paused{o.GroupVersionKind(), live.GetNamespace(), live.GetName(), live.GetUID(), replicasOf(live), owners})
		}
	}
	return d, nil
}

// name is like "deployment/NAME".
func (p paused) name() string { return strings.ToLower(p.Kind) + "/" + p.Name }

// Pauses are the workloads that a detour scales to zero and the configurations whose webhooks it silences, each like
// "deployment/NAME".
func (d *Detour) Pauses() (names []string) {
	for _, p := range d.Paused {
		names = append(names, p.name())
	}
	for _, s := range d.Silent {
		names = append(names, strings.ToLower(s.Kind)+"/"+s.Name)
	}
	return names
}

// Silences reports whether a detour keeps the API server from calling webhooks of a deployed operator.
func (d *Detour) Silences() bool { return len(d.Silent) > 0 }

// Pause scales a deployed operator to zero and has the API server call none of its webhooks, as [Cluster.PlanPause] has
// planned. [Cluster.TakeBack] undoes it.
func (c *Cluster) Pause(ctx context.Context, d *Detour) error {
	if err := c.setAll(ctx, d.wanted); err != nil {
		return err
	}
	for _, p := range d.Paused {
		if err := c.scale(ctx, p, 0); err != nil {
			return fmt.Errorf("scale %s to zero: %w", p.name(), err)
		}
	}
	return nil
}

// resume undoes a pause. What others have changed since stays.
func (c *Cluster) resume(ctx context.Context, d *Detour) error {
	var errs []error
	for _, p := range d.Paused {
		if err := c.scaleBack(ctx, p); err != nil {
			errs = append(errs, fmt.Errorf("scale %s back: %w", p.name(), err))
		}
	}
	c.awaitReady(ctx, d)
	for _, s := range d.Silent {
		if err := c.unsilence(ctx, s); err != nil {
			errs = append(errs, fmt.Errorf("have %s %s call its webhooks again: %w", s.Kind, s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// readyPatience is how long webhooks of a workload that was scaled back are not called yet while it has no pods that
// are available.
const readyPatience = 5 * time.Second

// awaitReady waits a moment until a deployed operator can answer its webhooks.
func (c *Cluster) awaitReady(ctx context.Context, d *Detour) {
	if len(d.Silent) == 0 {
		return
	}
	for _, p := range d.Paused {
		resource, err := c.workload(ctx, p)
		if err != nil {
			return
		}
		_ = poll(ctx, readyPatience, func(ctx context.Context) (bool, error) { // it may never be
			live, err := existing(ctx, resource, p.Name)
			if err != nil || live == nil || live.GetUID() != p.UID {
				return true, err
			}
			available, _, _ := unstructured.NestedInt64(live.Object, "status", "availableReplicas")
			return available > 0, nil
		})
	}
}

// scaleBack gives a workload that is still at zero the replicas that it had, and their owners.
func (c *Cluster) scaleBack(ctx context.Context, p paused) error {
	resource, err := c.workload(ctx, p)
	if err != nil {
		return err
	}
	live, err := existing(ctx, resource, p.Name)
	if err != nil || live == nil || live.GetUID() != p.UID {
		return err
	}
	if replicasOf(live) == 0 {
		if err := c.scale(ctx, p, p.Replicas); err != nil {
			return err
		}
	}
	return giveBack(ctx, resource, p.Name, p.Owners)
}

// scale sets the replicas of a workload, unless it was made anew since. The request is not given up.
func (c *Cluster) scale(ctx context.Context, p paused, replicas int64) error {
	defer ending.Await(ctx, "a request to the cluster")()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestLimit)
	defer cancel()
	resource, err := c.workload(ctx, p)
	if err != nil {
		return err
	}
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"spec":{"replicas":%d}}`, p.UID, replicas)
	_, err = resource.Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: callHereManager})
	if err != nil {
		if live, failed := existing(ctx, resource, p.Name); failed == nil && (live == nil || live.GetUID() != p.UID) {
			return nil // it is gone, or another one
		}
	}
	return err
}

// workload is where a paused workload lives.
func (c *Cluster) workload(ctx context.Context, p paused) (dynamic.ResourceInterface, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(p.GroupVersionKind)
	object.SetNamespace(p.Namespace)
	resource, _, err := c.locate(ctx, object, patienceOf(0))
	return resource, err
}

// unsilence takes out of a configuration what a pause has put in.
func (c *Cluster) unsilence(ctx context.Context, s configured) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(s.GroupVersionKind)
	object.SetName(s.Name)
	resource, _, err := c.locate(ctx, object, patienceOf(0))
	if err != nil {
		return err
	}
	live, err := existing(ctx, resource, s.Name)
	if err != nil || live == nil || !slices.ContainsFunc(live.GetManagedFields(), isCallHere) {
		return err
	}
	object.SetUID(live.GetUID()) // or one that was made meanwhile would change, or one come to be
	return c.setOwned(ctx, object)
}

// silenced is a configuration of which only is said that its webhooks in some Services are not called; nil if it has
// none there.
func silenced(live *unstructured.Unstructured, services map[types.NamespacedName]bool) *unstructured.Unstructured {
	hooks, _, _ := unstructured.NestedSlice(live.Object, "webhooks")
	var silent []any
	for _, hook := range hooks {
		fields, _ := hook.(map[string]any)
		if service, _, _ := unstructured.NestedMap(fields, "clientConfig", "service"); isIn(services, service) {
			silent = append(silent, map[string]any{"name": fields["name"], "matchConditions": []any{neverMatches}})
		}
	}
	if silent == nil {
		return nil
	}
	object := &unstructured.Unstructured{Object: map[string]any{"webhooks": silent}}
	object.SetGroupVersionKind(live.GroupVersionKind())
	object.SetName(live.GetName())
	return object
}

// isIn reports whether the reference of a webhook to a Service is to one of these.
func isIn(services map[types.NamespacedName]bool, reference map[string]any) bool {
	namespace, _ := reference["namespace"].(string)
	name, _ := reference["name"].(string)
	return services[types.NamespacedName{Namespace: namespace, Name: name}]
}

// isScaled reports whether an object is of a kind that can be scaled to zero.
func isScaled(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind().Group == "apps" && (o.GetKind() == "Deployment" || o.GetKind() == "StatefulSet")
}

// replicasOf is the number of replicas that a workload asks for, which is one if it does not say.
func replicasOf(live *unstructured.Unstructured) int64 {
	replicas, found, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if !found {
		return 1
	}
	return replicas
}
