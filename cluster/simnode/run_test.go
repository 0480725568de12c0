package simnode_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"slices"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/simnode"
	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

func TestNodeIsReadyAndHoldsItsLease(t *testing.T) {
	config, client := start(t)
	run(t, config, node.Spec{Name: "n", Labels: map[string]string{"zone": "a"}, Taints: []node.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}})
	n := get(t, client, "n")
	if len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != "k" {
		t.Errorf("taints: %v", n.Spec.Taints)
	}
	if n.Labels["zone"] != "a" || n.Labels[corev1.LabelHostname] != "n" || n.Labels[node.SimulatedLabel] != "true" {
		t.Errorf("labels: %v", n.Labels)
	}
	if pods := n.Status.Allocatable.Pods().Value(); pods != 1000 || n.Status.NodeInfo.KubeletVersion != node.KubeletVersion {
		t.Errorf("%d pods, kubelet %s", pods, n.Status.NodeInfo.KubeletVersion)
	}
	if c, err := client.StorageV1().CSINodes().Get(t.Context(), "n", metav1.GetOptions{}); err != nil || len(c.OwnerReferences) != 1 || c.OwnerReferences[0].UID != n.UID {
		t.Errorf("its CSINode is %+v, %v", c, err)
	}
	leases := cache.NewListWatchFromClient(client.CoordinationV1().RESTClient(), "leases", corev1.NamespaceNodeLease, fields.Everything())
	until(t, leases, &coordinationv1.Lease{}, never, func(e watch.Event) (bool, error) {
		lease, ok := e.Object.(*coordinationv1.Lease)
		return ok && lease.Name == "n" && *lease.Spec.HolderIdentity == "n" && len(lease.OwnerReferences) == 1, nil
	})
}

func TestPodsLiveAndEnd(t *testing.T) {
	config, client := start(t)
	run(t, config, node.Spec{Name: "n"})
	server := create(t, client, pod("server", "n", corev1.RestartPolicyAlways))
	job := create(t, client, pod("job", "n", corev1.RestartPolicyNever))
	elsewhere := create(t, client, pod("elsewhere", "other", corev1.RestartPolicyAlways))
	held := pod("held", "n", corev1.RestartPolicyAlways)
	held.Finalizers = []string{"example.com/hold"}
	create(t, client, held)

	running := await(t, client, server.Name, ready)
	if ip, err := netip.ParseAddr(running.Status.PodIP); err != nil || !netip.MustParsePrefix(get(t, client, "n").Spec.PodCIDR).Contains(ip) {
		t.Errorf("address %q, %v", running.Status.PodIP, err)
	}
	await(t, client, job.Name, phase(corev1.PodSucceeded))
	await(t, client, "held", ready)

	remove(t, client, server.Name)
	awaitGone(t, client, server.Name)
	remove(t, client, "held")
	await(t, client, "held", func(p *corev1.Pod) bool {
		return p.DeletionGracePeriodSeconds != nil && *p.DeletionGracePeriodSeconds == 0 && p.Status.Phase == corev1.PodFailed
	})
	release := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := client.CoreV1().Pods("default").Patch(t.Context(), "held", types.MergePatchType, release, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, client, "held")
	if p := await(t, client, elsewhere.Name, func(*corev1.Pod) bool { return true }); p.Status.StartTime != nil {
		t.Errorf("a pod on somebody else's node was touched: %v", p.Status)
	}
}

// A pod that is deleted and made again at once is a new pod.
func TestReplacedPodStartsAnew(t *testing.T) {
	config, client := start(t)
	run(t, config, node.Spec{Name: "n"})
	create(t, client, pod("p", "n", corev1.RestartPolicyAlways))
	old := await(t, client, "p", ready)
	now := int64(0)
	if err := client.CoreV1().Pods("default").Delete(t.Context(), "p", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	create(t, client, pod("p", "n", corev1.RestartPolicyAlways))
	p := await(t, client, "p", func(p *corev1.Pod) bool { return p.UID != old.UID && ready(p) })
	if p.Status.PodIP == old.Status.PodIP || p.Status.ContainerStatuses[0].ContainerID == old.Status.ContainerStatuses[0].ContainerID {
		t.Errorf("the new pod has the old one's address %s or container", p.Status.PodIP)
	}
}

// A durable cluster of an earlier version keeps the name of its node, and its pods stay where they are.
func TestFormerNameIsKept(t *testing.T) {
	config, client := start(t)
	earlier := node.Default()[0]
	earlier.Name, earlier.Formerly = earlier.Formerly, ""
	run(t, config, earlier).Stop()
	create(t, client, pod("p", earlier.Name, corev1.RestartPolicyAlways))
	for range 2 { // the second start finds what the first has kept
		nodes := run(t, config, node.Default()...)
		if names := nodes.Names(); !slices.Equal(names, []string{"node-1"}) {
			t.Errorf("the nodes are %v", names)
		}
		await(t, client, "p", ready)
		nodes.Stop()
	}
}

// Nodes that a configuration named so are others: they go, as all do that it names no more.
func TestOtherNodesOfTheFormerNameGo(t *testing.T) {
	config, client := start(t)
	run(t, config, node.Spec{Name: "node-1", Labels: map[string]string{"disk": "ssd"}}).Stop()
	if names := run(t, config, node.Default()...).Names(); !slices.Equal(names, []string{"simulated-1"}) {
		t.Errorf("the nodes are %v", names)
	}
	if _, err := client.CoreV1().Nodes().Get(t.Context(), "node-1", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the node of the earlier configuration: %v", err)
	}
}

// A cluster may keep simulated pods as they are; a pod's own annotations win.
func TestPodsOfAClusterWithHabits(t *testing.T) {
	config, client := start(t)
	o := simnode.Options{Specs: []node.Spec{{Name: "n"}}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Habits: stage.Habits{Pods: stage.Pending, Jobs: stage.Running}}
	nodes, err := simnode.Run(t.Context(), config, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes.Stop)
	create(t, client, pod("pending", "n", corev1.RestartPolicyAlways))
	job := pod("job", "n", corev1.RestartPolicyNever)
	job.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "u", Controller: new(true)}}
	create(t, client, job)
	let := pod("annotated", "n", corev1.RestartPolicyAlways)
	let.Annotations = map[string]string{"slipway.dev/start-after": "0s"}
	create(t, client, let)
	await(t, client, "annotated", ready)
	await(t, client, "job", phase(corev1.PodRunning))
	await(t, client, "pending", func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodPending && len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].State.Waiting.Reason == "ContainerCreating"
	})
}

func TestNodesRunAgain(t *testing.T) {
	config, client := start(t)
	foreign := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	first := run(t, config, node.Spec{Name: "dropped"}, node.Spec{Name: "kept"})
	create(t, client, pod("before", "kept", corev1.RestartPolicyAlways))
	before := await(t, client, "before", ready)
	keptBefore := get(t, client, "kept")
	first.Stop()
	create(t, client, pod("between", "kept", corev1.RestartPolicyAlways))

	run(t, config, node.Spec{Name: "added"}, node.Spec{Name: "kept"})
	between := await(t, client, "between", ready)
	if after := await(t, client, "before", ready); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("an unchanged pod was written: %v became %v", before.Status, after.Status)
	}
	if between.Status.PodIP == before.Status.PodIP {
		t.Errorf("both pods have %s", before.Status.PodIP)
	}
	if kept := get(t, client, "kept"); kept.ResourceVersion != keptBefore.ResourceVersion {
		t.Errorf("an unchanged node was written: %v became %v", keptBefore, kept)
	}
	get(t, client, "added")
	get(t, client, "foreign")
	if _, err := client.CoreV1().Nodes().Get(t.Context(), "dropped", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a node that no spec names: %v", err)
	}
}

func TestManyPodsNeedFewGoroutines(t *testing.T) {
	const pods = 200
	config, client := start(t)
	run(t, config, node.Spec{Name: "n"})
	create(t, client, pod("first", "n", corev1.RestartPolicyAlways))
	await(t, client, "first", ready) // all that a node has of its own runs by then
	before := runtime.NumGoroutine()
	for i := range pods {
		create(t, client, pod(fmt.Sprint("p", i), "n", corev1.RestartPolicyAlways))
	}
	for i := range pods {
		if p, err := client.CoreV1().Pods("default").Get(t.Context(), fmt.Sprint("p", i), metav1.GetOptions{}); err != nil || !ready(p) {
			await(t, client, fmt.Sprint("p", i), ready)
		}
	}
	if after := runtime.NumGoroutine(); after > before+pods/10 {
		t.Errorf("%d goroutines for %d pods", after-before, pods)
	}
}

func TestRunReportsFailure(t *testing.T) {
	nowhere := &rest.Config{Host: "https://127.0.0.1:1"}
	if _, err := simnode.Run(t.Context(), nowhere, simnode.Options{Specs: node.Default(), Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("nodes ran without an API server")
	}
}

func start(t *testing.T) (*rest.Config, kubernetes.Interface) {
	t.Helper()
	config := startCluster(t)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := client.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	root := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt"}, Data: map[string]string{"ca.crt": "-"}}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), root, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return config, client
}

func run(t *testing.T, config *rest.Config, specs ...node.Spec) *simnode.Nodes {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	nodes, err := simnode.Run(t.Context(), config, simnode.Options{Specs: specs, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes.Stop)
	return nodes
}

func pod(name, nodeName string, policy corev1.RestartPolicy) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: nodeName, RestartPolicy: policy,
			Containers: []corev1.Container{{Name: "main", Image: "example.com/main:v1"}},
		},
	}
}

func create(t *testing.T, client kubernetes.Interface, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	created, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func remove(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	if err := client.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, client kubernetes.Interface, name string) *corev1.Node {
	t.Helper()
	n, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func phase(p corev1.PodPhase) func(*corev1.Pod) bool {
	return func(pod *corev1.Pod) bool { return pod.Status.Phase == p }
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// await returns the pod once it is as wanted.
func await(t *testing.T, client kubernetes.Interface, name string, wanted func(*corev1.Pod) bool) (result *corev1.Pod) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() && result != nil {
			t.Logf("the pod was seen last as %s, version %s, with %v", result.UID, result.ResourceVersion, result.Status)
		}
	})
	until(t, podNamed(client, name), &corev1.Pod{}, never, func(e watch.Event) (bool, error) {
		p, ok := e.Object.(*corev1.Pod)
		if ok && e.Type != watch.Deleted {
			result = p
			return wanted(p), nil
		}
		return false, nil
	})
	return result
}

func awaitGone(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	empty := func(pods cache.Store) (bool, error) { return len(pods.ListKeys()) == 0, nil }
	until(t, podNamed(client, name), &corev1.Pod{}, empty, func(e watch.Event) (bool, error) { return e.Type == watch.Deleted, nil })
}

func podNamed(client kubernetes.Interface, name string) *cache.ListWatch {
	return cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "default", fields.OneTermEqualSelector("metadata.name", name))
}

func never(cache.Store) (bool, error) { return false, nil }

// until returns when what is listed first, or an event after that, is as wanted.
func until(t *testing.T, objects *cache.ListWatch, kind kruntime.Object, listed watchtools.PreconditionFunc, wanted watchtools.ConditionFunc) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	if _, err := watchtools.UntilWithSync(ctx, objects, kind, listed, wanted); err != nil {
		t.Fatal(err)
	}
}
