package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	podResource     = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	budgetResource  = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	classesResource = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
)

// builtin judges what kstatus does not know of kinds of Kubernetes.
func (s *scene) builtin(ctx context.Context, m *member) {
	s.onHold(m)
	switch kind := m.kind(); {
	case isWorkload(m):
		s.workload(m)
	case kind == schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:
		s.autoscaler(m)
	case kind == schema.GroupKind{Kind: "PersistentVolumeClaim"}:
		s.claim(ctx, m)
	case kind == schema.GroupKind{Kind: "Service"}:
		s.service(ctx, m)
	case kind == schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}:
		s.budget(m)
	case kind == schema.GroupKind{Kind: "Node"}:
		s.node(ctx, m)
	case kind == definitionKind:
		if reason, message := undefinedBecause(m.object); reason != "" {
			m.state = NotReady
			m.because(concrete, reason, "%s", message)
		}
	}
}

// holds are fields by which users stop the work of a controller, with what that means.
var holds = map[schema.GroupKind]struct{ field, reason, message string }{
	{Group: "apps", Kind: "Deployment"}: {"paused", "Paused", "it is paused: no rollout goes on while .spec.paused is true"},
	{Group: "batch", Kind: "Job"}:       {"suspend", "Suspended", "it is suspended: it has no pods while .spec.suspend is true"},
	{Group: "batch", Kind: "CronJob"}:   {"suspend", "Suspended", "it is suspended: no Job starts while .spec.suspend is true"},
}

// onHold says that a user has stopped the work on an object. That explains the object itself, and not what owns it.
func (s *scene) onHold(m *member) {
	hold := holds[m.kind()]
	if is, _, _ := unstructured.NestedBool(m.object.Object, "spec", hold.field); is {
		s.heldBack(m, hold.reason, hold.message)
	}
}

func (s *scene) heldBack(m *member, reason, message string) {
	if m.text = message; m.depth == 0 {
		m.because(symptom, reason, "%s", message)
	}
}

// autoscaler judges a HorizontalPodAutoscaler, of which kstatus knows nothing. Metrics of new pods take a while.
func (s *scene) autoscaler(m *member) {
	for _, c := range conditionsOf(m.object) {
		switch {
		case c.status != "False" || c.kind != "ScalingActive" && c.kind != "AbleToScale":
		case c.reason == "ScalingDisabled":
			s.heldBack(m, c.reason, plainly(c.text()))
		case s.now.Sub(c.since) < usualStart:
			m.state, m.text = InProgress, plainly(c.text())
		default:
			m.state, m.text = NotReady, plainly(c.text())
			m.because(symptom, c.reason, "%s", m.text)
		}
	}
}

// workload judges what makes pods by whether it can.
func (s *scene) workload(m *member) {
	observed, _, _ := unstructured.NestedInt64(m.object.Object, "status", "observedGeneration")
	if m.kind().Group == "apps" && observed == 0 && s.age(m.object.GetCreationTimestamp()) > usualDeletion {
		m.state = NotReady
		m.because(concrete, "NoController", "no controller has seen it: a control plane without controllers, such as envtest's, runs no pods")
	}
	for _, c := range conditionsOf(m.object) {
		switch {
		case c.kind == "ReplicaFailure" && c.status == "True":
			m.state = NotReady
			s.advise(m.because(concrete, c.reason, "%s", plainly(c.message)))
		case c.kind == "Progressing" && c.status == "False":
			m.state = NotReady
			m.because(symptom, c.reason, "%s", plainly(c.message))
		}
	}
}

// claim judges a claim that waits for a volume.
func (s *scene) claim(ctx context.Context, m *member) {
	if m.state == Ready {
		return
	}
	m.text = "it waits for a volume"
	class, named, _ := unstructured.NestedString(m.object.Object, "spec", "storageClassName")
	if named && class != "" {
		_, err := s.client.Resource(classesResource).Get(ctx, class, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			m.state = NotReady
			m.because(concrete, "NoStorageClass", "the storage class %s does not exist", class).Next = "slipway kubectl get storageclasses"
			return
		}
	}
	if e, is := s.eventOf(m, "ProvisioningFailed", "FailedBinding"); is {
		m.state = NotReady
		m.because(concrete, e.Reason, "%s", plainly(e.Message))
	}
}

// service judges a Service by the pods that it selects.
func (s *scene) service(ctx context.Context, m *member) {
	selector, _, _ := unstructured.NestedStringMap(m.object.Object, "spec", "selector")
	if len(selector) == 0 {
		return
	}
	list, err := s.client.Resource(podResource).Namespace(m.object.GetNamespace()).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(selector).String()})
	if err != nil {
		s.unread("pods", err)
		return
	}
	ready := 0
	for i := range list.Items {
		if c, is := find(conditionsOf(&list.Items[i]), "Ready"); is && c.status == "True" {
			ready++
		}
	}
	m.text = fmt.Sprintf("%d of %d pods ready", ready, len(list.Items))
	switch {
	case ready > 0:
	case len(list.Items) == 0:
		m.state = NotReady
		m.because(symptom, "NoPods", "no pod has the labels that it selects: %s", labels.SelectorFromSet(selector)).Next = "slipway kubectl get pods --show-labels -n " + m.object.GetNamespace()
	default:
		pod := &member{object: &list.Items[0], depth: m.depth + 1, state: Ready}
		s.pod(ctx, pod, true)
		m.state, m.causes = pod.state, append(m.causes, pod.causes...)
	}
}

// budget judges a PodDisruptionBudget: one that allows no eviction is as its author wants it, mostly, and holds up
// others.
func (s *scene) budget(m *member) {
	var budget policyv1.PodDisruptionBudget
	if runtime.DefaultUnstructuredConverter.FromUnstructured(m.object.Object, &budget) != nil {
		return
	}
	now := budget.Status
	m.text = fmt.Sprintf("%d of %d pods are healthy, %d have to be; %d may be evicted", now.CurrentHealthy, now.ExpectedPods, now.DesiredHealthy, now.DisruptionsAllowed)
	if m.depth == 0 && now.ObservedGeneration == budget.Generation && now.DisruptionsAllowed == 0 && now.ExpectedPods > 0 {
		m.because(admission, "NoDisruptionAllowed", "it lets no pod be evicted: %d of %d pods are healthy, and %d have to be", now.CurrentHealthy, now.ExpectedPods, now.DesiredHealthy)
	}
}

// node judges a node: one that is to be drained waits for budgets.
func (s *scene) node(ctx context.Context, m *member) {
	if ready, is := find(conditionsOf(m.object), "Ready"); is && ready.status != "True" {
		m.state = NotReady
		m.because(concrete, ready.reason, "%s", plainly(ready.text()))
	}
	if cordoned, _, _ := unstructured.NestedBool(m.object.Object, "spec", "unschedulable"); !cordoned {
		return
	}
	m.text = "it takes no new pods"
	pods, err := s.client.Resource(podResource).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + m.object.GetName()})
	if err != nil {
		s.unread("pods", err)
		return
	}
	budgets, err := s.client.Resource(budgetResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		s.unread("budgets", err)
		return
	}
	for i := range budgets.Items {
		s.holdsUp(m, &budgets.Items[i], pods.Items)
	}
}

// holdsUp finds pods on a node that a budget does not let go.
func (s *scene) holdsUp(m *member, object *unstructured.Unstructured, pods []unstructured.Unstructured) {
	b := &member{object: object, state: Ready}
	selector, has, _ := unstructured.NestedMap(object.Object, "spec", "selector")
	if s.budget(b); len(b.causes) == 0 || !has {
		return
	}
	var held []string
	for i := range pods {
		phase, _, _ := unstructured.NestedString(pods[i].Object, "status", "phase")
		owner := metav1.GetControllerOf(&pods[i])
		leaves := phase != "Succeeded" && phase != "Failed" && (owner == nil || owner.Kind != "DaemonSet" && owner.Kind != "Node") // what drain evicts
		if leaves && pods[i].GetNamespace() == object.GetNamespace() && selects(selector, pods[i].GetLabels(), true) {
			held = append(held, pods[i].GetName())
		}
	}
	if len(held) > 0 {
		slices.Sort(held)
		m.state = NotReady
		m.because(concrete, "BudgetHolds", "the budget %s lets no pod be evicted, of which it has %s", object.GetNamespace()+"/"+object.GetName(), plainly(strings.Join(held, ", ")))
	}
}

// selects reports whether a label selector selects labels; one without terms does if all is true.
func selects(selector map[string]any, of map[string]string, all bool) bool {
	if len(selector) == 0 {
		return all
	}
	var typed metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &typed) != nil {
		return false
	}
	parsed, err := metav1.LabelSelectorAsSelector(&typed)
	return err == nil && parsed.Matches(labels.Set(of))
}
