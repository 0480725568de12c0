package test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/simnode"
)

// ofNodes are what users see of simulated nodes and pods.
var ofNodes = map[string]func(*testing.T, clients, string){
	"an image cannot be pulled":               imageIsMissing,
	"a crash loop counts restarts":            crashLoop,
	"a Job fails":                             jobFails,
	"a Deployment never becomes available":    deploymentFails,
	"a wrong annotation is told":              wrongAnnotation,
	"an annotation changes a living pod":      livingPod,
	"pods go where labels and taints let":     schedulingByLabels,
	"a pod that asks for too much is pending": schedulingByCapacity,
	"a simulated pod says what it is":         simulatedPodSaysSo,
}

func imageIsMissing(t *testing.T, c clients, ns string) {
	makePod(t, c, ns, "p", annotated("slipway.dev/image-pull", "fail"))
	for _, status := range []string{"ErrImagePull", "ImagePullBackOff"} {
		eventually(t, "the pod is shown as "+status, func(ctx context.Context) (bool, error) {
			row, err := shown(ctx, c, ns, "p")
			return row["Status"] == status && row["Ready"] == "0/1", err
		})
	}
}

func crashLoop(t *testing.T, c clients, ns string) {
	makePod(t, c, ns, "p", annotated("slipway.dev/exit-code", "1", "slipway.dev/exit-after", "10ms", "slipway.dev/restart-after", "50ms"))
	eventually(t, "the pod is shown as crashing", func(ctx context.Context) (bool, error) {
		row, err := shown(ctx, c, ns, "p")
		var restarts int
		_, _ = fmt.Sscan(row["Restarts"], &restarts) // as in "3 (2s ago)"
		return row["Status"] == "CrashLoopBackOff" && restarts >= 3, err
	})
	pod, err := c.CoreV1().Pods(ns).Get(t.Context(), "p", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.ExitCode != 1 || last.Reason != "Error" {
		t.Errorf("last state: %v", last)
	}
}

func jobFails(t *testing.T, c clients, ns string) {
	template := podTemplate(corev1.RestartPolicyNever)
	annotated("slipway.dev/exit-code", "3", "slipway.dev/exit-after", "0s")(&template.ObjectMeta, nil)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: batchv1.JobSpec{BackoffLimit: ptr.To[int32](0), Template: template}}
	if _, err := c.BatchV1().Jobs(ns).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Job has failed", func(ctx context.Context) (bool, error) {
		job, err := c.BatchV1().Jobs(ns).Get(ctx, "job", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobFailed && c.Reason == batchv1.JobReasonBackoffLimitExceeded
		}), nil
	})
	pods, err := c.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("%d pods, %v", len(pods.Items), err)
	}
	if row, err := shown(t.Context(), c, ns, pods.Items[0].Name); err != nil || row["Status"] != "Error" {
		t.Errorf("the pod is shown as %v, %v", row, err)
	}
}

func deploymentFails(t *testing.T, c clients, ns string) {
	template := podTemplate(corev1.RestartPolicyAlways)
	annotated("slipway.dev/ready-after", "never")(&template.ObjectMeta, nil)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			ProgressDeadlineSeconds: ptr.To[int32](1), Template: template,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "test"}},
		},
	}
	if _, err := c.AppsV1().Deployments(ns).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Deployment misses its deadline", func(ctx context.Context) (bool, error) {
		d, err := c.AppsV1().Deployments(ns).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return d.Status.AvailableReplicas == 0 && slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse && c.Reason == "ProgressDeadlineExceeded"
		}), nil
	})
}

func wrongAnnotation(t *testing.T, c clients, ns string) {
	makePod(t, c, ns, "p", annotated("slipway.dev/exit-code", "one"))
	eventually(t, "the pod runs as if nothing was said", func(ctx context.Context) (bool, error) {
		row, err := shown(ctx, c, ns, "p")
		return row["Status"] == "Running" && row["Ready"] == "1/1", err
	})
	saidOf(t, c, ns, "p", simnode.ReasonInvalidAnnotation, `slipway.dev/exit-code="one"`, "0 to 255")
}

func livingPod(t *testing.T, c clients, ns string) {
	makePod(t, c, ns, "p", annotated("slipway.dev/ready-after", "never"))
	isReady := func(want string) {
		t.Helper()
		eventually(t, "the pod is shown as "+want, func(ctx context.Context) (bool, error) {
			row, err := shown(ctx, c, ns, "p")
			return row["Status"] == "Running" && row["Ready"] == want, err
		})
	}
	isReady("0/1")
	patch := []byte(`{"metadata":{"annotations":{"slipway.dev/ready-after":"0s"}}}`)
	if _, err := c.CoreV1().Pods(ns).Patch(t.Context(), "p", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	isReady("1/1")
}

func schedulingByLabels(t *testing.T, c clients, ns string) {
	makePod(t, c, ns, "anywhere", nil)
	makePod(t, c, ns, "refused", func(_ *metav1.ObjectMeta, s *corev1.PodSpec) { s.NodeSelector = map[string]string{"disk": "ssd"} })
	makePod(t, c, ns, "tolerant", func(_ *metav1.ObjectMeta, s *corev1.PodSpec) {
		s.NodeSelector = map[string]string{"disk": "ssd"}
		s.Tolerations = []corev1.Toleration{{Key: "dedicated", Value: "fast", Effect: corev1.TaintEffectNoSchedule}}
	})
	for name, on := range map[string]string{"anywhere": "large", "tolerant": "fast"} {
		eventually(t, name+" runs on "+on, func(ctx context.Context) (bool, error) {
			pod, err := c.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
			return err == nil && pod.Spec.NodeName == on && pod.Status.Phase == corev1.PodRunning, err
		})
	}
	saidOf(t, c, ns, "refused", "FailedScheduling", "untolerated taint")
}

func schedulingByCapacity(t *testing.T, c clients, ns string) {
	makePod(t, c, ns, "p", func(_ *metav1.ObjectMeta, s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500")}
	})
	saidOf(t, c, ns, "p", "FailedScheduling", "Insufficient cpu")
	if row, err := shown(t.Context(), c, ns, "p"); err != nil || row["Status"] != "Pending" {
		t.Errorf("the pod is shown as %v, %v", row, err)
	}
}

func simulatedPodSaysSo(t *testing.T, c clients, ns string) {
	makePod(t, c, ns, "p", nil)
	eventually(t, "the pod runs", func(ctx context.Context) (bool, error) {
		row, err := shown(ctx, c, ns, "p")
		return row["Status"] == "Running", err
	})
	_, err := c.CoreV1().Pods(ns).GetLogs("p", &corev1.PodLogOptions{}).Stream(t.Context())
	if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "pod "+ns+"/p is simulated") {
		t.Errorf("logs: %v", err)
	}
	exec := c.CoreV1().RESTClient().Post().Namespace(ns).Resource("pods").Name("p").SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: []string{"ls"}, Stdout: true}, scheme.ParameterCodec)
	executor, err := remotecommand.NewSPDYExecutor(c.config, "POST", exec.URL())
	if err != nil {
		t.Fatal(err)
	}
	err = executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &lockedBuffer{}})
	if err == nil || !strings.Contains(err.Error(), "it cannot run a command") {
		t.Errorf("exec: %v", err)
	}
	err = c.CoreV1().RESTClient().Get().Namespace(ns).Resource("pods").Name("p").SubResource("proxy").Do(t.Context()).Error()
	if !apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), "simulated") {
		t.Errorf("proxy: %v", err)
	}
	health, err := c.CoreV1().RESTClient().Get().Resource("nodes").Name("large").SubResource("proxy").Suffix("healthz").DoRaw(t.Context())
	if err != nil || string(health) != "ok" {
		t.Errorf("the kubelet's health: %q, %v", health, err)
	}
}

// testLost: a lost node's pods neither run nor go, until it comes back.
func testLost(t *testing.T, p *program) {
	requests, c := p.dial(t), p.clients()
	ns := newNamespace(t, c)
	makePod(t, c, ns, "p", func(_ *metav1.ObjectMeta, s *corev1.PodSpec) {
		s.NodeSelector = map[string]string{corev1.LabelHostname: "lonely"}
		s.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	})
	pod := func() *corev1.Pod {
		t.Helper()
		pod, err := c.CoreV1().Pods(ns).Get(t.Context(), "p", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return pod
	}
	eventually(t, "the pod runs", func(context.Context) (bool, error) { return pod().Status.Phase == corev1.PodRunning, nil })

	if refusal := requests.ask("stopNode", map[string]string{"name": "c"}, nil); !strings.Contains(refusal, `unknown node "c": the nodes are fast, large, lonely`) {
		t.Errorf("an unknown node: %q", refusal)
	}
	requests.call("stopNode", map[string]string{"name": "lonely"}, nil)
	if err := c.CoreV1().Pods(ns).Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node counts as lost", func(ctx context.Context) (bool, error) {
		n, err := c.CoreV1().Nodes().Get(ctx, "lonely", metav1.GetOptions{})
		return err == nil && nodeReady(n) == corev1.ConditionUnknown, err
	})
	if pod().DeletionTimestamp == nil {
		t.Error("the pod is not being deleted")
	}
	requests.call("startNode", map[string]string{"name": "lonely"}, nil)
	n, err := c.CoreV1().Nodes().Get(t.Context(), "lonely", metav1.GetOptions{})
	if err != nil || nodeReady(n) != corev1.ConditionTrue {
		t.Errorf("the node that came back: %v, %v", n.Status.Conditions, err)
	}
	eventually(t, "the pod is gone", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().Pods(ns).Get(ctx, "p", metav1.GetOptions{})
		return apierrors.IsNotFound(err), ignoreNotFound(err)
	})
}

func nodeReady(n *corev1.Node) corev1.ConditionStatus {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}

// makePod makes a pod of a template that change was applied to.
func makePod(t *testing.T, c clients, ns, name string, change func(*metav1.ObjectMeta, *corev1.PodSpec)) {
	t.Helper()
	template := podTemplate(corev1.RestartPolicyAlways)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: template.Spec}
	if change != nil {
		change(&pod.ObjectMeta, &pod.Spec)
	}
	if _, err := c.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func annotated(keysAndValues ...string) func(*metav1.ObjectMeta, *corev1.PodSpec) {
	return func(o *metav1.ObjectMeta, _ *corev1.PodSpec) {
		for pair := range slices.Chunk(keysAndValues, 2) {
			metav1.SetMetaDataAnnotation(o, pair[0], pair[1])
		}
	}
}

// shown is a pod's row in `kubectl get pods`, by column.
func shown(ctx context.Context, c clients, ns, name string) (map[string]string, error) {
	data, err := c.CoreV1().RESTClient().Get().Namespace(ns).Resource("pods").Name(name).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	var table metav1.Table
	if err := json.Unmarshal(data, &table); err != nil {
		return nil, err
	}
	row := map[string]string{}
	for i, column := range table.ColumnDefinitions {
		row[column.Name] = fmt.Sprint(table.Rows[0].Cells[i])
	}
	return row, nil
}

// saidOf expects an Event on the pod with that reason and those words.
func saidOf(t *testing.T, c clients, ns, pod, reason string, words ...string) {
	t.Helper()
	eventually(t, reason+" of pod "+pod, func(ctx context.Context) (bool, error) {
		events, err := c.CoreV1().Events(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
			return e.InvolvedObject.Name == pod && e.Reason == reason &&
				!slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(e.Message, w) })
		}), nil
	})
}
