package controllers

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/realnode/preflight"
)

// daemonSets shows the stock controller the DaemonSets of a cluster that may have nodes of both kinds. One whose pods
// real nodes refuse, as for a hostPath volume, is for the other nodes alone there: else it would wait for the refused
// pods for good, and with it all that waits for its rollout. Where all nodes are real it stays as it is, so that it
// reports the refusal.
//
// The controller replaces the affinity of each pod by the pod's node, so pods do not show the change; a
// ControllerRevision does.
type daemonSets struct {
	appsinformers.DaemonSetInformer
	nodes corelisters.NodeLister
}

// Lister lists them as the controller is to see them.
func (d daemonSets) Lister() appslisters.DaemonSetLister {
	return daemonSetLister{d.DaemonSetInformer.Lister(), d.nodes}
}

type daemonSetLister struct {
	appslisters.DaemonSetLister
	nodes corelisters.NodeLister
}

func (l daemonSetLister) List(s labels.Selector) ([]*appsv1.DaemonSet, error) {
	all, err := l.DaemonSetLister.List(s)
	return avoidingAll(all, err, l.nodes)
}

func (l daemonSetLister) DaemonSets(namespace string) appslisters.DaemonSetNamespaceLister {
	return daemonSetsOf{l.DaemonSetLister.DaemonSets(namespace), l.nodes}
}

type daemonSetsOf struct {
	appslisters.DaemonSetNamespaceLister
	nodes corelisters.NodeLister
}

func (l daemonSetsOf) List(s labels.Selector) ([]*appsv1.DaemonSet, error) {
	all, err := l.DaemonSetNamespaceLister.List(s)
	return avoidingAll(all, err, l.nodes)
}

func (l daemonSetsOf) Get(name string) (*appsv1.DaemonSet, error) {
	set, err := l.DaemonSetNamespaceLister.Get(name)
	if err != nil {
		return nil, err
	}
	return avoiding(set, l.nodes)
}

func avoidingAll(all []*appsv1.DaemonSet, err error, nodes corelisters.NodeLister) ([]*appsv1.DaemonSet, error) {
	seen := make([]*appsv1.DaemonSet, 0, len(all))
	for _, set := range all {
		set, wrong := avoiding(set, nodes)
		if wrong != nil {
			return nil, wrong
		}
		seen = append(seen, set)
	}
	return seen, err
}

// avoiding keeps a DaemonSet away from real nodes if they refuse its pods and there are simulated ones. It does not
// matter whether there are real ones yet: the first one that joins changes nothing for the pods that are there.
func avoiding(set *appsv1.DaemonSet, nodes corelisters.NodeLister) (*appsv1.DaemonSet, error) {
	all, err := nodes.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	has := func(label string) bool {
		return slices.ContainsFunc(all, func(n *corev1.Node) bool { return n.Labels[label] != "" })
	}
	pod := &corev1.Pod{Spec: set.Spec.Template.Spec}
	if !has(node.SimulatedLabel) || preflight.Of(pod, has(node.PlainLabel), unknownClaims) == "" {
		return set, nil
	}
	set = set.DeepCopy()
	avoidReal(&set.Spec.Template.Spec)
	return set, nil
}

// unknownClaims leaves claims out: which volumes they lead to changes, and nodes report it.
func unknownClaims(string, string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	return nil, nil
}

// avoidReal adds to each of the terms, one of which a node must meet, that it is not real.
func avoidReal(spec *corev1.PodSpec) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	notReal := corev1.NodeSelectorRequirement{Key: node.RealLabel, Operator: corev1.NodeSelectorOpDoesNotExist}
	required := &spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if *required == nil {
		*required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{notReal}}}}
		return
	}
	for i := range (*required).NodeSelectorTerms {
		term := &(*required).NodeSelectorTerms[i]
		isReal := func(r corev1.NodeSelectorRequirement) bool { return r.Key == node.RealLabel }
		empty := len(term.MatchExpressions)+len(term.MatchFields) == 0     // no node meets that
		if !empty && !slices.ContainsFunc(term.MatchExpressions, isReal) { // an earlier revision may have brought it
			term.MatchExpressions = append(term.MatchExpressions, notReal)
		}
	}
}
