package ship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/internal/report"
)

// A diagnosis says why a workload is not ready.
type diagnosis struct {
	object  report.ObjectRef
	lines   []string
	unready []report.Unready    // the same for programs
	logs    map[string][]string // the ends of the logs of containers that do not run or are not ready
	next    string              // a command, if one is better than to look at the object
}

// because adds a reason, once, with its line for people.
func (d *diagnosis) because(u report.Unready, format string, args ...any) {
	d.say(format, args...)
	if u.Object = d.object; !slices.Contains(d.unready, u) {
		d.unready = append(d.unready, u)
	}
}

// say adds a line, once.
func (d *diagnosis) say(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(d.lines, line) {
		d.lines = append(d.lines, line)
	}
}

// diagnose looks at an object's conditions, and at the pods, events and logs behind a workload.
// It is for an explanation: what cannot be had is left out.
func (c *Cluster) diagnose(ctx context.Context, object *unstructured.Unstructured) diagnosis {
	d := diagnosis{object: *refOf(object)}
	for _, condition := range conditions(object) {
		if troubling(condition) {
			d.because(report.Unready{Reason: condition.reason, Message: condition.message}, "%s: %s", condition.reason, condition.message)
		}
	}
	if kindOf(object).Group == "apps" && observedGeneration(object) == 0 {
		const unseen = "no controller has seen it: a control plane without controllers, such as envtest's, runs no pods"
		d.because(report.Unready{Reason: "NoController", Message: unseen}, unseen)
	}
	for _, pod := range c.podsOf(ctx, object) {
		if !podReady(pod) {
			c.diagnosePod(ctx, pod, &d)
			break // its siblings have the same template and, mostly, the same trouble
		}
	}
	return d
}

// observedGeneration is the last one that a workload's controller has looked at, 0 for none.
func observedGeneration(workload *unstructured.Unstructured) int64 {
	observed, _, _ := unstructured.NestedInt64(workload.Object, "status", "observedGeneration")
	return observed
}

// troubling reports whether a condition says more than that something is not ready yet.
func troubling(c condition) bool {
	switch {
	case c.message == "":
		return false
	case c.kind == "ReplicaFailure":
		return c.status == "True"
	case c.kind == "Ready":
		return c.status == "False"
	}
	return c.kind == "Progressing" && c.status == "False"
}

// podsOf returns the pods that a workload selects, the youngest first; of a Deployment or DaemonSet those of its newest
// template only, for what is wrong with the others is about to go. A StatefulSet waits for its old pods, too.
func (c *Cluster) podsOf(ctx context.Context, workload *unstructured.Unstructured) []corev1.Pod {
	selected, _, _ := unstructured.NestedStringMap(workload.Object, "spec", "selector", "matchLabels")
	if len(selected) == 0 {
		return nil
	}
	label, hash, narrow := "", "", false
	switch kindOf(workload) {
	case deploymentKind:
		label, hash, narrow = templateHashLabel, c.templateHash(ctx, workload, selected), true
	case daemonSetKind:
		label = revisionHashLabel
		hash, narrow = c.revisionHash(ctx, workload, selected)
	}
	if narrow && hash == "" {
		return nil
	}
	if narrow {
		selected[label] = hash
	}
	pods := list[corev1.Pod](ctx, c.objects.Resource(podResource).Namespace(workload.GetNamespace()), selecting(selected))
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return pods
}

// What controllers mark with: the annotation by which a Deployment and its newest ReplicaSet belong
// together, and the label of the pods of one template.
const (
	revision          = "deployment.kubernetes.io/revision"
	templateHashLabel = "pod-template-hash"
	revisionHashLabel = "controller-revision-hash" // of a DaemonSet
)

// templateHash is the label of the pods of a Deployment's newest template, empty
// when there are none yet.
func (c *Cluster) templateHash(ctx context.Context, deployment *unstructured.Unstructured, selected map[string]string) string {
	sets, err := c.objects.Resource(replicaSetResource).Namespace(deployment.GetNamespace()).List(ctx, selecting(selected))
	if err != nil {
		return ""
	}
	for _, set := range sets.Items {
		if set.GetAnnotations()[revision] == deployment.GetAnnotations()[revision] {
			return set.GetLabels()[templateHashLabel]
		}
	}
	return ""
}

// revisionHash is the label of the pods of a DaemonSet's newest template, empty when there are none yet. Those who may
// not read revisions do not know it.
func (c *Cluster) revisionHash(ctx context.Context, set *unstructured.Unstructured, selected map[string]string) (hash string, known bool) {
	newest := int64(0)
	all, err := c.objects.Resource(revisionResource).Namespace(set.GetNamespace()).List(ctx, selecting(selected))
	if err != nil {
		return "", false
	}
	for _, r := range all.Items {
		if number, _, _ := unstructured.NestedInt64(r.Object, "revision"); number > newest && metav1.IsControlledBy(&r, set) {
			newest, hash = number, r.GetLabels()[revisionHashLabel]
		}
	}
	return hash, true
}

// selecting are the options to list what has labels.
func selecting(selected map[string]string) metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: labels.SelectorFromSet(selected).String()}
}

// list returns objects as what they are, and none when that fails.
func list[T any](ctx context.Context, resource dynamic.ResourceInterface, o metav1.ListOptions) []T {
	found, err := resource.List(ctx, o)
	if err != nil {
		return nil
	}
	return typed[T](found)
}

// typed are the objects of a list as what they are.
func typed[T any](list *unstructured.UnstructuredList) []T {
	var all []T
	for _, item := range list.Items {
		var object T
		if runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &object) == nil {
			all = append(all, object)
		}
	}
	return all
}

// Where workloads, their pods and what is told about them live.
var (
	deploymentKind     = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	revisionResource   = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}
	replicaSetResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	podResource        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	eventResource      = schema.GroupVersionResource{Version: "v1", Resource: "events"}
	secretResource     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

// podReady reports whether pod is ready and stays.
func podReady(pod corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// diagnosePod says what keeps pod from being ready.
func (c *Cluster) diagnosePod(ctx context.Context, pod corev1.Pod, d *diagnosis) {
	c.diagnoseStatus(ctx, pod, d)
	for _, event := range c.eventsOf(ctx, pod.UID, pod.Namespace) {
		if event.Reason != "BackOff" { // says that something failed, which was said, and not why
			d.because(report.Unready{Pod: pod.Name, Reason: event.Reason, Message: brief(event.Message)}, "%s: %s", event.Reason, event.Message)
		}
	}
}

// diagnoseStatus says what a pod's status and logs do.
func (c *Cluster) diagnoseStatus(ctx context.Context, pod corev1.Pod, d *diagnosis) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			d.because(report.Unready{Pod: pod.Name, Reason: condition.Reason, Message: condition.Message}, "pod %s is not scheduled: %s", pod.Name, condition.Message)
		}
	}
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		c.diagnoseContainer(ctx, pod, container, d)
	}
}

// diagnoseContainer says why a container does not run.
func (c *Cluster) diagnoseContainer(ctx context.Context, pod corev1.Pod, container corev1.ContainerStatus, d *diagnosis) {
	if done := container.State.Terminated; container.Ready || done != nil && done.ExitCode == 0 {
		return // what it was restarted for is over
	}
	of := report.Unready{Pod: pod.Name, Container: container.Name}
	if waiting := container.State.Waiting; waiting != nil && waiting.Message != "" {
		of.Reason, of.Message = waiting.Reason, brief(waiting.Message)
		d.because(of, "container %s of pod %s: %s: %s", container.Name, pod.Name, waiting.Reason, waiting.Message)
	}
	ended := cmp.Or(container.State.Terminated, container.LastTerminationState.Terminated)
	if ended == nil || ended.ExitCode == 0 && container.RestartCount == 0 {
		if container.State.Running != nil && !container.Ready {
			of.Reason, of.Probe, of.Message = "ContainersNotReady", probeText(pod, container.Name), "the container runs but is not ready"
			d.because(of, "container %s of pod %s runs but is not ready", container.Name, pod.Name)
			c.nameChecks(ctx, pod, of, d)
			c.quoteLog(ctx, pod, container, false, d)
		}
		return
	}
	reason := ""
	if ended.Reason != "" && ended.Reason != "Error" {
		reason = " (" + ended.Reason + ")"
	}
	of.Reason, of.Message = cmp.Or(ended.Reason, "Error"), fmt.Sprintf("the container ended with exit code %d; restarts: %d", ended.ExitCode, container.RestartCount)
	d.because(of, "container %s of pod %s ended with exit code %d%s; restarts: %d", container.Name, pod.Name, ended.ExitCode, reason, container.RestartCount)
	c.quoteLog(ctx, pod, container, container.State.Terminated == nil, d)
}

// probeText is the readiness probe of a container, such as httpGet :8081/readyz; "" if it has none.
func probeText(pod corev1.Pod, container string) string {
	at := slices.IndexFunc(pod.Spec.Containers, func(of corev1.Container) bool { return of.Name == container })
	if at < 0 || pod.Spec.Containers[at].ReadinessProbe == nil {
		return ""
	}
	switch probe := pod.Spec.Containers[at].ReadinessProbe; {
	case probe.HTTPGet != nil:
		return "httpGet :" + probe.HTTPGet.Port.String() + probe.HTTPGet.Path
	case probe.TCPSocket != nil:
		return "tcpSocket :" + probe.TCPSocket.Port.String()
	case probe.GRPC != nil:
		return "grpc :" + strconv.Itoa(int(probe.GRPC.Port))
	}
	return "exec"
}

// nameChecks names the readiness checks of a container that fail, as a manager of controller-runtime lists them, with
// what the log says of each: the answer to a probe withholds reasons.
func (c *Cluster) nameChecks(ctx context.Context, pod corev1.Pod, unready report.Unready, d *diagnosis) {
	container := unready.Container
	at := slices.IndexFunc(pod.Spec.Containers, func(of corev1.Container) bool { return of.Name == container })
	if at < 0 || pod.Spec.Containers[at].ReadinessProbe == nil || pod.Spec.Containers[at].ReadinessProbe.HTTPGet == nil {
		return
	}
	probe := pod.Spec.Containers[at].ReadinessProbe.HTTPGet
	if path.Clean("/"+probe.Path) != "/"+strings.Trim(probe.Path, "/") {
		return // it would lead elsewhere in the API server
	}
	port := portOf(pod, probe.Port)
	asking, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	err := c.catalog.client.Get().
		AbsPath("/api/v1/namespaces", pod.Namespace, "pods", strings.ToLower(string(probe.Scheme))+":"+pod.Name+":"+strconv.FormatInt(port, 10), "proxy", probe.Path).
		Param("verbose", "").MaxRetries(0).Do(asking).Error()
	log := c.logOf(ctx, pod, container, false)
	for line := range strings.Lines(unstructuredAnswer(err)) {
		name, failing := strings.CutPrefix(strings.TrimSpace(line), "[-]")
		if name, _, _ = strings.Cut(name, " "); !failing || name == "" {
			continue
		}
		unready.Probe, unready.Message = name, "the readiness check fails"
		d.because(unready, "readiness check %s fails", name)
		for _, entry := range slices.Backward(log) {
			if strings.Contains(entry, `"check":"`+name+`"`) || strings.Contains(entry, `"check": "`+name+`"`) {
				d.say("  %s", entry)
				break
			}
		}
	}
}

// unstructuredAnswer is what a program behind the API server's proxy answered with the status of a failure.
func unstructuredAnswer(err error) string {
	var failed apierrors.APIStatus
	if !errors.As(err, &failed) || failed.Status().Details == nil {
		return ""
	}
	for _, cause := range failed.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeUnexpectedServerResponse {
			return cause.Message
		}
	}
	return ""
}

// quotedLines is how many of a log's last lines are shown.
const quotedLines = 8

// quoteLog shows the end of a container's log, or of the one before it, and what is known of the mistakes it tells of.
// When it was restarted since its status was read, what was the log then is that of the one before now.
func (c *Cluster) quoteLog(ctx context.Context, pod corev1.Pod, container corev1.ContainerStatus, previous bool, d *diagnosis) {
	log := c.logOf(ctx, pod, container.Name, previous)
	if len(log) == 0 && !previous {
		log = c.logOf(ctx, pod, container.Name, true)
	}
	if len(log) == 0 {
		return
	}
	d.say("its last log lines:")
	end := log[max(0, len(log)-quotedLines):]
	if d.logs != nil {
		d.logs[container.Name] = end
	}
	for _, line := range end {
		d.say("  %s", line)
	}
	for _, of := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if older := olderImage(of, log); of.Name == container.Name && older != "" {
			d.say("%s", older)
			d.next = "slipway image build -t " + of.Image
		}
	}
	for _, marker := range c.missing(ctx, log) {
		d.because(report.Unready{Pod: pod.Name, Container: container.Name, Reason: "Forbidden", Message: "missing: " + marker}, "a permission is missing; beside Reconcile, add: %s", marker)
		d.next = "slipway generate"
	}
}

// warnOfPermissions tells of what the logs of a workload that runs say is forbidden to it: an operator whose cache may
// not list a kind is ready all the same, and does nothing.
func (c *Cluster) warnOfPermissions(ctx context.Context, workload *unstructured.Unstructured) {
	if !runsPods(workload) {
		return
	}
	live, err := c.live(ctx, workload)
	if err != nil {
		return
	}
	var reported []string
	for _, pod := range c.podsOf(ctx, live) {
		for _, container := range pod.Spec.Containers {
			for _, marker := range c.missing(ctx, c.logOf(ctx, pod, container.Name, false)) {
				if !slices.Contains(reported, marker) {
					reported = append(reported, marker)
					c.handler.Handle(report.Warning{Text: fmt.Sprintf("%s runs, but its log reports a missing permission; beside Reconcile, add: %s", nameOf(live), marker)})
				}
			}
		}
	}
}

// live is object as the cluster has it.
func (c *Cluster) live(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, object, err := c.locate(ctx, object, 0)
	if err != nil {
		return nil, err
	}
	return resource.Get(ctx, object.GetName(), metav1.GetOptions{})
}

// readLines and readBytes are how much of a log is looked through.
const (
	readLines = "200"
	readBytes = "262144"
)

// logOf returns the end of a container's log, by line.
func (c *Cluster) logOf(ctx context.Context, pod corev1.Pod, container string, previous bool) []string {
	text, err := c.catalog.client.Get().
		AbsPath("/api/v1/namespaces", pod.Namespace, "pods", pod.Name, "log").
		Param("container", container).Param("previous", fmt.Sprint(previous)).Param("tailLines", readLines).Param("limitBytes", readBytes).
		Do(ctx).Raw()
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// eventsOf returns the warnings about the object with the given UID.
func (c *Cluster) eventsOf(ctx context.Context, uid types.UID, namespace string) []corev1.Event {
	return list[corev1.Event](ctx, c.objects.Resource(eventResource).Namespace(namespace),
		metav1.ListOptions{FieldSelector: "type=Warning,involvedObject.uid=" + string(uid)})
}
