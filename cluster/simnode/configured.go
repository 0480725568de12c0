package simnode

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-dev/slipway/cluster/node"
)

// configuration is the annotation in which a Node remembers the spec that it was last brought in line with, so that
// what is dropped from the configuration can be told from what somebody else added.
const configuration = "slipway.dev/configuration"

// configured is the old Node with what changed in its configuration since it was last applied. What others changed
// meanwhile stays, unless the configuration changed it too.
func configured(old, wanted *corev1.Node, spec node.Spec) *corev1.Node {
	n, last := old.DeepCopy(), remembered(old)
	n.Labels = labels(old.Labels, last.Labels, spec.Labels)
	maps.Copy(n.Labels, baseLabels(spec.Name))
	delete(n.Labels, node.RealLabel)
	delete(n.Labels, node.PlainLabel)
	n.Spec.Taints = taints(old.Spec.Taints, last.Taints, spec.Taints)
	if n.Spec.PodCIDR == "" {
		n.Spec.PodCIDR, n.Spec.PodCIDRs = wanted.Spec.PodCIDR, wanted.Spec.PodCIDRs
	}
	if n.Annotations == nil {
		n.Annotations = map[string]string{}
	}
	n.Annotations[configuration] = wanted.Annotations[configuration]
	return n
}

// remembered is the spec that a Node was last brought in line with; an empty one when it does not say.
func remembered(n *corev1.Node) (last node.Spec) {
	if json.Unmarshal([]byte(n.Annotations[configuration]), &last) != nil {
		return node.Spec{}
	}
	return last
}

func labels(old, last, wanted map[string]string) map[string]string {
	result := maps.Clone(old)
	if result == nil {
		result = map[string]string{}
	}
	for key, value := range last {
		if _, kept := wanted[key]; !kept && result[key] == value {
			delete(result, key)
		}
	}
	for key, value := range wanted {
		if was, ok := last[key]; !ok || was != value {
			result[key] = value
		}
	}
	return result
}

// taints also drops those of a node that is not ready.
func taints(old []corev1.Taint, last, wanted []node.Taint) []corev1.Taint {
	result := slices.DeleteFunc(slices.Clone(old), func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable ||
			slices.ContainsFunc(last, same(t)) && !slices.ContainsFunc(wanted, sameKind(t))
	})
	for _, w := range wanted {
		if slices.ContainsFunc(last, same(corev1.Taint(w))) {
			continue // whether it is still there is somebody else's choice
		}
		result = slices.DeleteFunc(result, func(t corev1.Taint) bool { return sameKind(t)(w) })
		result = append(result, corev1.Taint(w))
	}
	return result
}

// same finds a taint; sameKind finds one that may not stand beside it.
func same(t corev1.Taint) func(node.Taint) bool {
	return func(o node.Taint) bool { return sameKind(t)(o) && t.Value == o.Value }
}

func sameKind(t corev1.Taint) func(node.Taint) bool {
	return func(o node.Taint) bool { return t.Key == o.Key && t.Effect == o.Effect }
}

// configuredStatus is the wanted status with the resources and conditions that others added to the old one.
func configuredStatus(old, wanted *corev1.Node) corev1.NodeStatus {
	status := *wanted.Status.DeepCopy()
	last := remembered(old).Capacity
	foreign := func(have corev1.ResourceList, into corev1.ResourceList) {
		for name, amount := range have {
			_, configured := last[name]
			if _, ours := into[name]; !ours && !configured {
				into[name] = amount
			}
		}
	}
	foreign(old.Status.Capacity, status.Capacity)
	foreign(old.Status.Allocatable, status.Allocatable)
	status.Conditions = refreshed(old.Status.Conditions, wanted.Status.Conditions)
	return status
}
