package metricsapi

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/metrics/pkg/apis/metrics"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// kept is what both resources are: read-only, and made when they are asked for.
type kept struct{}

// Destroy has nothing to clean up.
func (kept) Destroy() {}

// GetSingularName is empty, as metrics-server's: "pod" and "node" are those of the core group.
func (kept) GetSingularName() string { return "" }

// reads is what both resources can do.
type reads interface {
	rest.Storage
	rest.Scoper
	rest.Getter
	rest.Lister
	rest.SingularNameProvider
}

var (
	_ reads = podStorage{}
	_ reads = nodeStorage{}
)

// podStorage has the metrics of pods.
type podStorage struct {
	kept
	figures *figures
}

// New is an empty one.
func (podStorage) New() runtime.Object { return &metrics.PodMetrics{} }

// NewList is an empty list.
func (podStorage) NewList() runtime.Object { return &metrics.PodMetricsList{} }

// NamespaceScoped says that they are in namespaces.
func (podStorage) NamespaceScoped() bool { return true }

// Get measures a pod. One without figures is not found.
func (s podStorage) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	pod, err := s.figures.pods.Pods(request.NamespaceValue(ctx)).Get(name)
	if apierrors.IsNotFound(err) {
		return nil, apierrors.NewNotFound(v1beta1.Resource("pods"), name)
	}
	if err != nil {
		return nil, err
	}
	found := s.figures.ofPods(ctx, []*corev1.Pod{pod})
	if len(found) == 0 {
		return nil, apierrors.NewNotFound(v1beta1.Resource("pods"), name)
	}
	return &found[0], nil
}

// List measures the pods that are selected, in the order of their names.
func (s podStorage) List(ctx context.Context, o *metainternalversion.ListOptions) (runtime.Object, error) {
	selected, by := selectors(o)
	pods, err := s.figures.pods.Pods(request.NamespaceValue(ctx)).List(selected)
	if err != nil {
		return nil, err
	}
	pods = slices.DeleteFunc(pods, func(p *corev1.Pod) bool {
		return !by.Matches(fields.Set{"metadata.name": p.Name, "metadata.namespace": p.Namespace})
	})
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return &metrics.PodMetricsList{Items: s.figures.ofPods(ctx, pods)}, nil
}

// nodeStorage has the metrics of nodes.
type nodeStorage struct {
	kept
	figures *figures
}

// New is an empty one.
func (nodeStorage) New() runtime.Object { return &metrics.NodeMetrics{} }

// NewList is an empty list.
func (nodeStorage) NewList() runtime.Object { return &metrics.NodeMetricsList{} }

// NamespaceScoped says that they are in no namespace.
func (nodeStorage) NamespaceScoped() bool { return false }

// Get measures a node. One without figures is not found.
func (s nodeStorage) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	node, err := s.figures.nodes.Get(name)
	if apierrors.IsNotFound(err) {
		return nil, apierrors.NewNotFound(v1beta1.Resource("nodes"), name)
	}
	if err != nil {
		return nil, err
	}
	found, err := s.figures.ofNodes(ctx, []*corev1.Node{node})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, apierrors.NewNotFound(v1beta1.Resource("nodes"), name)
	}
	return &found[0], nil
}

// List measures the nodes that are selected, in the order of their names.
func (s nodeStorage) List(ctx context.Context, o *metainternalversion.ListOptions) (runtime.Object, error) {
	selected, by := selectors(o)
	nodes, err := s.figures.nodes.List(selected)
	if err != nil {
		return nil, err
	}
	nodes = slices.DeleteFunc(nodes, func(n *corev1.Node) bool { return !by.Matches(fields.Set{"metadata.name": n.Name}) })
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	found, err := s.figures.ofNodes(ctx, nodes)
	if err != nil {
		return nil, err
	}
	return &metrics.NodeMetricsList{Items: found}, nil
}

// selectors are those of a list; everything where it has none.
func selectors(o *metainternalversion.ListOptions) (labels.Selector, fields.Selector) {
	selected, by := labels.Everything(), fields.Everything()
	if o != nil && o.LabelSelector != nil {
		selected = o.LabelSelector
	}
	if o != nil && o.FieldSelector != nil {
		by = o.FieldSelector
	}
	return selected, by
}
