package ship

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// stuckContainer is one of a pod.
type stuckContainer struct {
	pod  types.UID
	name string
}

// mayRecover is how long a container that is stuck may still come to run: a registry or a kubelet's cache may have
// failed once, and what a program needs to start may come a little later.
const mayRecover = 5 * time.Second

// hopeless returns errHopeless when a pod of workload fails in a way that waiting does not mend.
func (w *watch) hopeless(ctx context.Context, workload *unstructured.Unstructured) error {
	if observedGeneration(workload) < workload.GetGeneration() {
		return nil // its pods are still those of the template before
	}
	for _, pod := range w.cluster.podsOf(ctx, workload) {
		for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if pod.DeletionTimestamp != nil || !stuck(container) || w.cluster.mayBeConfigured(ctx, pod, container) {
				continue
			}
			key := stuckContainer{pod.UID, container.Name}
			if _, seen := w.stuck[key]; !seen {
				w.stuck[key] = time.Now()
			}
			if final(container) || time.Since(w.stuck[key]) >= mayRecover {
				return errHopeless
			}
		}
	}
	return nil
}

// crashes is how many restarts make a container that ends again and again hopeless: the first may
// be one that came too early for what it needs.
const crashes = 2

// configError is why a container waits whose configuration is wrong or not there.
const configError = "CreateContainerConfigError"

// stuck reports whether a container waits for what will not come by itself.
func stuck(container corev1.ContainerStatus) bool {
	if container.State.Waiting == nil {
		return false
	}
	switch container.State.Waiting.Reason {
	case "CrashLoopBackOff":
		return container.RestartCount >= crashes
	case "ImagePullBackOff", configError:
		return true
	}
	return final(container)
}

// final reports whether nothing but another pod helps a container.
func final(container corev1.ContainerStatus) bool {
	return container.State.Waiting.Reason == "InvalidImageName" || container.State.Waiting.Reason == "ErrImageNeverPull"
}

// mayBeConfigured reports whether a container waits for a Secret or a ConfigMap of its variables that does not exist,
// or for a key of it: as what a volume shows, it may still come. One that came after the pod counts as well, since a
// kubelet looks for it only now and then, and one that the user may not read.
func (c *Cluster) mayBeConfigured(ctx context.Context, pod corev1.Pod, container corev1.ContainerStatus) bool {
	if container.State.Waiting.Reason != configError {
		return false
	}
	for _, spec := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if spec.Name != container.Name {
			continue
		}
		if slices.ContainsFunc(variableSources(spec), func(s source) bool {
			object, err := c.objects.Resource(s.resource).Namespace(pod.Namespace).Get(ctx, s.name, metav1.GetOptions{})
			return err != nil || !s.isIn(object) || changedSince(object, pod.CreationTimestamp)
		}) {
			return true
		}
	}
	return false
}

// changedSince reports whether an object was written at a time, or later.
func changedSince(object *unstructured.Unstructured, t metav1.Time) bool {
	created := object.GetCreationTimestamp()
	return !created.Before(&t) || slices.ContainsFunc(object.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Time != nil && !f.Time.Before(&t) })
}

// source is an object that variables are taken from, or one of its keys.
type source struct {
	resource schema.GroupVersionResource
	name     string
	key      string // "" for all
}

// isIn reports whether an object has what is taken from it.
func (s source) isIn(object *unstructured.Unstructured) bool {
	_, found, _ := unstructured.NestedString(object.Object, "data", s.key)
	return found || s.key == ""
}

// variableSources are the objects that a container's variables are taken from, but for optional ones.
func variableSources(container corev1.Container) (sources []source) {
	add := func(resource schema.GroupVersionResource, reference corev1.LocalObjectReference, key string, optional *bool) {
		if optional == nil || !*optional {
			sources = append(sources, source{resource, reference.Name, key})
		}
	}
	for _, from := range container.EnvFrom {
		if s := from.SecretRef; s != nil {
			add(secretResource, s.LocalObjectReference, "", s.Optional)
		}
		if m := from.ConfigMapRef; m != nil {
			add(configMapResource, m.LocalObjectReference, "", m.Optional)
		}
	}
	for _, variable := range container.Env {
		if variable.ValueFrom == nil {
			continue
		}
		if s := variable.ValueFrom.SecretKeyRef; s != nil {
			add(secretResource, s.LocalObjectReference, s.Key, s.Optional)
		}
		if m := variable.ValueFrom.ConfigMapKeyRef; m != nil {
			add(configMapResource, m.LocalObjectReference, m.Key, m.Optional)
		}
	}
	return sources
}
