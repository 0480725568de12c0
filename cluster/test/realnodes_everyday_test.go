package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/node"
)

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// kubectl runs the real command, and returns what it prints; its exit status is not 0 if failed is true.
func (c *realCluster) kubectl(args ...string) (out string, failed bool) {
	c.t.Helper()
	args = append([]string{"--kubeconfig", filepath.Join(c.config.Dir, "kubeconfig"), "--namespace", c.ns}, args...)
	cmd := exec.CommandContext(c.t.Context(), filepath.Join(filepath.Dir(programPath), "slipway-kubectl"), args...)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		c.t.Fatal(err)
	}
	return b.String(), err != nil
}

// mustKubectl is kubectl for what succeeds.
func (c *realCluster) mustKubectl(args ...string) string {
	c.t.Helper()
	out, failed := c.kubectl(args...)
	if failed {
		c.t.Fatalf("kubectl %s: %s", strings.Join(args, " "), out)
	}
	return out
}

// deployment has pods like this one.
func (c *realCluster) deployment(p *corev1.Pod, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: p.Labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels}, Spec: p.Spec},
	}}
}

func (c *realCluster) createDeployment(p *corev1.Pod, replicas int32) {
	c.t.Helper()
	must[*appsv1.Deployment](c.t)(c.client.AppsV1().Deployments(c.ns).Create(c.t.Context(), c.deployment(p, replicas), metav1.CreateOptions{}))
}

// podsOf lists the pods with a label app, without those that are being deleted.
func (c *realCluster) podsOf(ctx context.Context, app string) (pods []corev1.Pod, err error) {
	all, err := c.client.CoreV1().Pods(c.ns).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		return nil, err
	}
	for _, p := range all.Items {
		if p.DeletionTimestamp == nil {
			pods = append(pods, p)
		}
	}
	return pods, nil
}

// testRollout: a Deployment is rolled out, rolled out anew, undone and scaled, as kubectl's user sees it.
func testRollout(t *testing.T, c *realCluster) {
	p := c.pod("web", "serve")
	p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt(8080)}}, PeriodSeconds: 1,
	}
	c.createDeployment(p, 1)
	status := func() {
		t.Helper()
		if out := c.mustKubectl("rollout", "status", "deployment/web", "--timeout="+testlimit.Hang.String()); !strings.Contains(out, "successfully rolled out") {
			t.Errorf("the rollout: %s", out)
		}
	}
	environment := func() string {
		t.Helper()
		pods, err := c.podsOf(t.Context(), "web")
		if err != nil || len(pods) == 0 {
			t.Fatalf("%d pods, %v", len(pods), err)
		}
		return c.exec(pods[0].Name, "pod", "env")
	}
	status()
	c.mustKubectl("set", "env", "deployment/web", "WORD=second")
	status()
	if got := environment(); !strings.Contains(got, "WORD=second") {
		t.Errorf("after the rollout: %s", got)
	}
	c.mustKubectl("rollout", "undo", "deployment/web")
	status()
	if got := environment(); strings.Contains(got, "WORD=") {
		t.Errorf("after it was undone: %s", got)
	}
	c.mustKubectl("scale", "deployment/web", "--replicas=2")
	status()
	if out := c.mustKubectl("get", "deployment", "web", "-o", "jsonpath={.status.readyReplicas}"); out != "2" {
		t.Errorf("%s replicas are ready", out)
	}
}

// testSidecars: a container that goes on beside the others is there for init containers, and ends after the others: its
// Job completes.
func testSidecars(t *testing.T, c *realCluster) {
	spec := c.pod("", "get", "http://127.0.0.1:8080/").Spec
	spec.RestartPolicy = corev1.RestartPolicyNever
	sidecar := corev1.Container{
		Name: "sidecar", Image: c.image, Args: []string{"serve"}, RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
		StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(8080)}}, PeriodSeconds: 1},
	}
	spec.InitContainers = []corev1.Container{sidecar, {Name: "first", Image: c.image, Args: spec.Containers[0].Args}}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "with-sidecar"}, Spec: batchv1.JobSpec{
		BackoffLimit: new(int32(0)), Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "with-sidecar"}}, Spec: spec},
	}}
	must[*batchv1.Job](t)(c.client.BatchV1().Jobs(c.ns).Create(t.Context(), job, metav1.CreateOptions{}))
	eventually(t, "the Job with a sidecar completes", func(ctx context.Context) (bool, error) {
		j, err := c.client.BatchV1().Jobs(c.ns).Get(ctx, job.Name, metav1.GetOptions{})
		if err == nil && j.Status.Failed > 0 {
			return false, fmt.Errorf("it failed: %+v", j.Status)
		}
		return err == nil && j.Status.Succeeded == 1, err
	})
	pods, err := c.podsOf(t.Context(), job.Name)
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	if got := c.log(pods[0].Name, corev1.PodLogOptions{Container: "sidecar"}); got != "serving 8080\n" {
		t.Errorf("the sidecar logged %q", got)
	}
	for _, s := range pods[0].Status.InitContainerStatuses {
		if s.State.Terminated == nil {
			t.Errorf("container %s did not end: %+v", s.Name, s.State)
		}
	}
}

// testTerminationMessages: a container leaves its last words in a file, or its log is taken for them.
func testTerminationMessages(t *testing.T, c *realCluster) {
	written := c.pod("written", "write", "/dev/termination-log", "bye")
	logged := c.pod("logged", "exit", "3")
	logged.Spec.Containers[0].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	for want, p := range map[string]*corev1.Pod{"bye\n": written, "exiting with 3\n": logged} {
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
		c.create(p)
		p = c.await(p.Name, func(p *corev1.Pod) bool { return c.mainStatus(p).State.Terminated != nil })
		if got := c.mainStatus(p).State.Terminated.Message; got != want {
			t.Errorf("pod %s left %q, want %q", p.Name, got, want)
		}
	}
}

// testCronJob: a run that is due is made, and succeeds. The last one is moved into the past.
func testCronJob(t *testing.T, c *realCluster) {
	template := corev1.PodTemplateSpec{Spec: c.pod("", "echo", "on time").Spec}
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	jobs := c.client.BatchV1().CronJobs(c.ns)
	must[*batchv1.CronJob](t)(jobs.Create(t.Context(), &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "cron"}, Spec: batchv1.CronJobSpec{
		Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template}},
	}}, metav1.CreateOptions{}))
	past := fmt.Appendf(nil, `{"status":{"lastScheduleTime":%q}}`, time.Now().Add(-time.Minute).UTC().Format(time.RFC3339))
	must[*batchv1.CronJob](t)(jobs.Patch(t.Context(), "cron", types.MergePatchType, past, metav1.PatchOptions{}, "status"))
	eventually(t, "the CronJob has succeeded", func(ctx context.Context) (bool, error) {
		cron, err := jobs.Get(ctx, "cron", metav1.GetOptions{})
		return err == nil && cron.Status.LastSuccessfulTime != nil, err
	})
}

// testNotListening: a Service whose pod is ready and does not listen accepts a connection, and resets it.
func testNotListening(t *testing.T, c *realCluster) {
	c.create(c.pod("deaf", "graceful"))
	c.create(c.pod("caller", "graceful"))
	c.await("deaf", ready)
	c.await("caller", ready)
	c.service("deaf", corev1.ServiceSpec{Selector: map[string]string{"app": "deaf"}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}})
	eventually(t, "the Service resets the connection", func(context.Context) (bool, error) {
		out, stderr, err := c.try("caller", nil, false, "pod", "get", "http://deaf/")
		if err == nil {
			return false, fmt.Errorf("it answers %q", out)
		}
		return strings.Contains(stderr, "reset by peer") || strings.Contains(stderr, "EOF"), nil // refused before it has an endpoint
	})
}

// testAggregated: a pod serves a part of the API, through its Service.
func testAggregated(t *testing.T, c *realCluster) {
	const group, version = "pods.example.com", "v1"
	c.create(c.pod("api", "aggregate", group+"/"+version))
	c.await("api", ready)
	c.service("api", corev1.ServiceSpec{Selector: map[string]string{"app": "api"}, Ports: []corev1.ServicePort{{Port: 443, TargetPort: intstr.FromInt32(8443)}}})
	services := c.client.dynamic.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	must[*unstructured.Unstructured](t)(services.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": version + "." + group},
		"spec": map[string]any{
			"group": group, "version": version, "groupPriorityMinimum": int64(100), "versionPriority": int64(100), "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": c.ns, "name": "api"},
		},
	}}, metav1.CreateOptions{}))
	eventually(t, "the API server asks the pod", func(ctx context.Context) (bool, error) {
		text, err := c.client.CoreV1().RESTClient().Get().AbsPath("/apis", group, version).DoRaw(ctx)
		return err == nil && strings.Contains(string(text), "APIResourceList"), nil // unavailable at first
	})
	// Discovery of all groups would fail for the others once the pod has gone.
	if err := services.Delete(t.Context(), version+"."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.remove("api")
}

// testLogicalBesideReal: the nodes of a logical cluster are simulated, also beside real ones.
func testLogicalBesideReal(t *testing.T, c *realCluster) {
	second := clientsOf(t, c.dial().addLogical("second", true).Kubeconfig)
	eventually(t, "it has a node", func(ctx context.Context) (bool, error) {
		nodes, err := second.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: node.SimulatedLabel})
		return err == nil && len(nodes.Items) == 1, err
	})
	if nodes, err := second.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil || len(nodes.Items) != 1 {
		t.Errorf("its nodes: %v, %v", nodes, err)
	}
}
