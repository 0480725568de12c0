package test

import (
	"context"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
)

// testMetrics: the metrics API has what real pods use, each container by itself, and an autoscaler follows: it adds
// pods to those that are busy, and removes them when the pods have nothing to do.
func testMetrics(t *testing.T, c *realCluster) {
	metrics := must[*metricsclient.MetricsV1beta1Client](t)(metricsclient.NewForConfig(c.client.config))
	t.Run("containers", func(t *testing.T) { c.testUsage(t, metrics) })
	t.Run("autoscaler", func(t *testing.T) { c.testAutoscaler(t) })
}

// testUsage has a container that is busy beside one that is not. On a busy machine it gets little, but something.
func (c *realCluster) testUsage(t *testing.T, metrics metricsclient.MetricsV1beta1Interface) {
	p := c.pod("burning", "work")
	p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "idle", Image: c.image})
	c.create(p)
	c.await("burning", ready)
	var last *v1beta1.PodMetrics
	eventually(t, "the busy container uses more than the idle one", func(ctx context.Context) (bool, error) {
		m, err := metrics.PodMetricses(c.ns).Get(ctx, "burning", metav1.GetOptions{})
		if err != nil || len(m.Containers) != 2 {
			return false, nil // it has no figures yet
		}
		last = m
		idle, busy := m.Containers[0].Usage, m.Containers[1].Usage
		return busy.Cpu().MilliValue() > 20 && busy.Cpu().Cmp(*idle.Cpu()) > 0, nil
	})
	for _, container := range last.Containers {
		if container.Usage.Memory().Value() < 100<<10 {
			t.Errorf("container %s uses %s of memory", container.Name, container.Usage.Memory())
		}
	}
	node, err := metrics.NodeMetricses().Get(t.Context(), "node-1", metav1.GetOptions{})
	if err != nil || node.Usage.Cpu().MilliValue() <= 20 || node.Usage.Memory().Value() < 10<<20 {
		t.Errorf("node-1: %v, %v", node, err)
	}
	c.remove("burning")
}

func (c *realCluster) testAutoscaler(t *testing.T) {
	const name = "scaled"
	labels := map[string]string{"app": name}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: c.pod("", "work").Spec}
	template.Spec.TerminationGracePeriodSeconds = new(int64(0))
	template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
	deployments := c.client.AppsV1().Deployments(c.ns)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
	}
	if _, err := deployments.Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	target := autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))}
	scaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
			MaxReplicas:    2,
			Metrics:        []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: target}}},
			Behavior:       &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0))}},
		},
	}
	if _, err := c.client.AutoscalingV2().HorizontalPodAutoscalers(c.ns).Create(t.Context(), scaler, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	replicas := func(want int32) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			d, err := deployments.Get(ctx, name, metav1.GetOptions{})
			return err == nil && d.Status.ReadyReplicas == want && d.Status.UpdatedReplicas == want && d.Status.Replicas == want, err
		}
	}
	eventually(t, "busy pods become two", replicas(2))
	idle := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"main","args":["serve"]}]}}}}`)
	if _, err := deployments.Patch(t.Context(), name, types.StrategicMergePatchType, idle, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "idle pods become one", replicas(1))
	pods, err := c.client.CoreV1().Pods(c.ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + name})
	if err != nil || !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return slices.Equal(p.Spec.Containers[0].Args, []string{"serve"}) }) {
		t.Errorf("pods: %v, %v", pods, err)
	}
}
