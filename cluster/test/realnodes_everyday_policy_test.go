package test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// onDrained has a pod on that node while it may be there.
func onDrained(p *corev1.Pod) *corev1.Pod {
	p.Spec.Tolerations = []corev1.Toleration{{Key: asked, Operator: corev1.TolerationOpExists}}
	p.Spec.Affinity = &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: 100,
			Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"node-2"}},
			}},
		}}},
		PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight:          100,
			PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}},
		}}},
	}
	return p
}

// testDrain: the eviction API keeps to a budget, and kubectl drain empties a node but for its DaemonSet's pod.
func testDrain(t *testing.T, c *realCluster) {
	moving := onDrained(c.pod("moving", "graceful"))
	moving.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	c.createDeployment(moving, 2)
	agent := onDrained(c.pod("agent", "graceful"))
	agent.Spec.Affinity = nil
	c.createDaemonSet(agent)
	budgets := c.client.PolicyV1().PodDisruptionBudgets(c.ns)
	must[*policyv1.PodDisruptionBudget](t)(budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "moving"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(2)), Selector: &metav1.LabelSelector{MatchLabels: moving.Labels}},
	}, metav1.CreateOptions{}))
	c.readyOn("moving", "node-2", "node-2")
	c.readyOn("agent", "node-1", "node-2")
	eventually(t, "the budget knows its pods", func(ctx context.Context) (bool, error) {
		b, err := budgets.Get(ctx, "moving", metav1.GetOptions{})
		return err == nil && b.Status.CurrentHealthy == 2, err
	})
	pods, err := c.podsOf(t.Context(), "moving")
	if err != nil {
		t.Fatal(err)
	}
	err = c.client.PolicyV1().Evictions(c.ns).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pods[0].Name, Namespace: c.ns}})
	if !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "disruption budget") {
		t.Errorf("an eviction against the budget: %v", err)
	}
	const selected = "--pod-selector=app in (moving,agent)" // other items may have pods there
	if out, failed := c.kubectl("drain", "node-2", selected); !failed || !strings.Contains(out, "DaemonSet-managed") {
		t.Errorf("a drain without --ignore-daemonsets: %s", out)
	}
	patch := []byte(`{"spec":{"minAvailable":1}}`)
	must[*policyv1.PodDisruptionBudget](t)(budgets.Patch(t.Context(), "moving", types.MergePatchType, patch, metav1.PatchOptions{}))
	eventually(t, "the budget allows a disruption", func(ctx context.Context) (bool, error) {
		b, err := budgets.Get(ctx, "moving", metav1.GetOptions{})
		return err == nil && b.Status.DisruptionsAllowed == 1, err
	})
	c.mustKubectl("drain", "node-2", selected, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout="+testlimit.Hang.String())
	c.readyOn("moving", "node-1", "node-1")
	c.readyOn("agent", "node-1", "node-2")
	c.mustKubectl("uncordon", "node-2")
}

// readyOn waits until the pods of an app are ready on these nodes, in any order.
func (c *realCluster) readyOn(app string, nodes ...string) {
	c.t.Helper()
	wanted := map[string]int{}
	for _, n := range nodes {
		wanted[n]++
	}
	eventually(c.t, "pods of "+app+" are ready on "+strings.Join(nodes, " and "), func(ctx context.Context) (bool, error) {
		pods, err := c.podsOf(ctx, app)
		if err != nil || len(pods) != len(nodes) {
			return false, err
		}
		found := map[string]int{}
		for _, p := range pods {
			if ready(&p) {
				found[p.Spec.NodeName]++
			}
		}
		for n, count := range wanted {
			if found[n] != count {
				return false, nil
			}
		}
		return true, nil
	})
}

// testPriorities: a pod of a high priority has one of a low priority deleted when both do not fit.
func testPriorities(t *testing.T, c *realCluster) {
	n, err := c.client.CoreV1().Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	most := resource.NewMilliQuantity(n.Status.Allocatable.Cpu().MilliValue()*6/10, resource.DecimalSI)
	for name, value := range map[string]int32{"low": -10, "high": 10} {
		must[*schedulingv1.PriorityClass](t)(c.client.SchedulingV1().PriorityClasses().Create(t.Context(), &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value,
		}, metav1.CreateOptions{}))
	}
	for _, name := range []string{"low", "high"} {
		p := c.pod(name, "graceful")
		p.Spec.PriorityClassName = name
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: *most}
		c.create(p)
		c.await(name, ready)
	}
	c.awaitEvent("low", "Preempted", "")
	eventually(t, "the pod of the low priority is gone", func(ctx context.Context) (bool, error) {
		_, err := c.client.CoreV1().Pods(c.ns).Get(ctx, "low", metav1.GetOptions{})
		return gone(err)
	})
	c.remove("high")
}

// testQuota: a namespace's quota and the defaults and limits of its pods hold for real pods.
func testQuota(t *testing.T, c *realCluster) {
	ns := newNamespace(t, c.client)
	pods := c.client.CoreV1().Pods(ns)
	must[*corev1.ResourceQuota](t)(c.client.CoreV1().ResourceQuotas(ns).Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "few"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
	}, metav1.CreateOptions{}))
	must[*corev1.LimitRange](t)(c.client.CoreV1().LimitRanges(ns).Create(t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type:    corev1.LimitTypeContainer,
			Default: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
			Max:     corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
		}}},
	}, metav1.CreateOptions{}))
	eventually(t, "the quota counts", func(ctx context.Context) (bool, error) {
		q, err := c.client.CoreV1().ResourceQuotas(ns).Get(ctx, "few", metav1.GetOptions{})
		return err == nil && q.Status.Used.Pods() != nil && len(q.Status.Hard) > 0, err
	})
	large := c.limited("large", corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")})
	if _, err := pods.Create(t.Context(), large, metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "maximum memory usage") {
		t.Errorf("a pod above the range: %v", err)
	}
	one := must[*corev1.Pod](t)(pods.Create(t.Context(), c.pod("one", "graceful"), metav1.CreateOptions{}))
	if got := one.Spec.Containers[0].Resources.Limits.Memory().String(); got != "64Mi" {
		t.Errorf("its limit of memory is %s", got)
	}
	runs(t, c.client, ns, "one")
	if _, err := pods.Create(t.Context(), c.pod("two", "graceful"), metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota") {
		t.Errorf("a pod above the quota: %v", err)
	}
	if err := pods.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "there is room again", func(ctx context.Context) (bool, error) {
		_, err := pods.Create(ctx, c.pod("two", "graceful"), metav1.CreateOptions{})
		if apierrors.IsForbidden(err) {
			return false, nil
		}
		return err == nil, err
	})
	runs(t, c.client, ns, "two")
}
