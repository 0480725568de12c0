package ship

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// installOrder lists kinds in the order in which a cluster needs them. Kinds of
// one line do not need each other. Kinds that are not listed, which are mostly custom
// resources, come at the empty line: when all they may refer to is there, but
// before webhooks that might judge them while nobody answers yet.
var installOrder = [][]string{
	{"CustomResourceDefinition.apiextensions.k8s.io"},
	{"Namespace"},
	{"ResourceQuota", "LimitRange", "PriorityClass.scheduling.k8s.io", "StorageClass.storage.k8s.io", "RuntimeClass.node.k8s.io"},
	{"ServiceAccount", "ConfigMap", "Secret"},
	{"ClusterRole.rbac.authorization.k8s.io", "Role.rbac.authorization.k8s.io"},
	{"ClusterRoleBinding.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io"},
	{"PersistentVolume", "PersistentVolumeClaim", "Service", "NetworkPolicy.networking.k8s.io"},
	{"Pod", "ReplicationController", "ReplicaSet.apps", "Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "Job.batch", "CronJob.batch"},
	{"HorizontalPodAutoscaler.autoscaling", "PodDisruptionBudget.policy", "Ingress.networking.k8s.io"},
	{},
	{"MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io", "APIService.apiregistration.k8s.io"},
}

// customRank is the line of installOrder for what is not listed.
var customRank = slices.IndexFunc(installOrder, func(kinds []string) bool { return len(kinds) == 0 })

// workloadRank is the line of installOrder for what runs pods.
var workloadRank = rank(schema.GroupKind{Group: "apps", Kind: "Deployment"})

// rank is the line of installOrder that k belongs to.
func rank(k schema.GroupKind) int {
	for i, kinds := range installOrder {
		if slices.Contains(kinds, k.String()) {
			return i
		}
	}
	return customRank
}

// shipments groups objects by rank, in install order; within a group the given
// order stays.
func shipments(objects []*unstructured.Unstructured) [][]*unstructured.Unstructured {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(rank(kindOf(a)), rank(kindOf(b)))
	})
	var groups [][]*unstructured.Unstructured
	for i, object := range sorted {
		if i == 0 || rank(kindOf(object)) != rank(kindOf(sorted[i-1])) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], object)
	}
	return groups
}

// InInstallOrder returns objects in the order in which a cluster needs them.
func InInstallOrder(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.Concat(shipments(objects)...)
}

// departures groups objects in the order in which they go: custom resources and definitions, whose objects may wait for
// an operator that is among the rest, and then against the install order.
func departures(objects []*unstructured.Unstructured) [][]*unstructured.Unstructured {
	groups := shipments(objects)
	slices.Reverse(groups)
	slices.SortStableFunc(groups, func(a, b []*unstructured.Unstructured) int {
		return cmp.Compare(turn(a[0]), turn(b[0]))
	})
	return groups
}

// turn is 0 for what may need an operator to go, and 1 for all else.
func turn(object *unstructured.Unstructured) int {
	if rank(kindOf(object)) == customRank || kindOf(object) == crdKind {
		return 0
	}
	return 1
}

// kindOf is the group and kind of object.
func kindOf(object *unstructured.Unstructured) schema.GroupKind {
	return object.GroupVersionKind().GroupKind()
}

// crdKind is the kind that makes other kinds.
var crdKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// refOf names an object for programs, as nameOf does for people.
func refOf(object *unstructured.Unstructured) *report.ObjectRef {
	return &report.ObjectRef{Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
}

// nameOf names an object for people: crd/cronjobs.batch.example.com,
// deployment/system/manager.
func nameOf(object *unstructured.Unstructured) string { return RefText(*refOf(object)) }

// RefText names an object as [NameOf] does.
func RefText(r report.ObjectRef) string {
	kind := strings.ToLower(r.Kind)
	if r.Kind == crdKind.Kind {
		kind = "crd"
	}
	return kind + "/" + strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")
}
