package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/metricsapi"
	"github.com/slipway-dev/slipway/cluster/node"
)

// metrics is a client of the metrics API, of a user with all rights or, if it is named, of another one.
func (r *running) metrics(t *testing.T, user string) metricsclient.MetricsV1beta1Interface {
	t.Helper()
	config := r.Loopback()
	config.Impersonate.UserName = user
	c, err := metricsclient.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// place is a namespace, and a node of a kind.
type place struct {
	namespace, node string
	client          kubernetes.Interface
}

func newPlace(t *testing.T, r *running, label string) place {
	t.Helper()
	p := place{namespace: fresh("measured"), node: fresh("node"), client: r.client(t)}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}
	if _, err := p.client.CoreV1().Namespaces().Create(t.Context(), space, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := p.client.CoreV1().ServiceAccounts(p.namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: p.node, Labels: map[string]string{label: "true", "place": p.namespace}}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: kubeletAddress.String()}}
	n.Status.DaemonEndpoints.KubeletEndpoint.Port = 10250
	if _, err := p.client.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return p
}

// run makes a pod on the node, two of whose three containers run.
func (p place) run(t *testing.T, name string, annotations map[string]string) {
	t.Helper()
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations, Labels: map[string]string{"name": name}},
		Spec: corev1.PodSpec{NodeName: p.node, Containers: []corev1.Container{
			{Name: "main", Image: "example.com/main:v1", Resources: corev1.ResourceRequirements{Requests: requests}},
			{Name: "side", Image: "example.com/side:v1"},
			{Name: "waiting", Image: "example.com/waiting:v1"},
		}},
	}
	pod, err := p.client.CoreV1().Pods(p.namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.Status.Phase = corev1.PodRunning
	for _, container := range []string{"main", "side"} {
		running := corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, running)
	}
	if _, err := p.client.CoreV1().Pods(p.namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// used is what the containers of a pod use, as text.
func used(m *metricsv1beta1.PodMetrics) map[string]string {
	all := map[string]string{}
	for _, c := range m.Containers {
		all[c.Name] = fmt.Sprintf("%s %s", c.Usage.Cpu(), c.Usage.Memory())
	}
	return all
}

// tenth of the memory that a test's container requests, in bytes.
const tenth = 64 << 20 / 10

// TestMetricsOfSimulatedPods: figures follow from requests and annotations, for containers that run; a node uses what
// its pods use.
func TestMetricsOfSimulatedPods(t *testing.T) {
	s := theServer(t)
	p, client := newPlace(t, s, node.SimulatedLabel), s.metrics(t, "")
	p.run(t, "busy", map[string]string{"slipway.dev/cpu-usage": "90%", "side.slipway.dev/memory-usage": "20Mi"})
	p.run(t, "idle", nil)
	var list *metricsv1beta1.PodMetricsList
	eventually(t, "both pods have figures", func() (bool, string) {
		var err error
		list, err = client.PodMetricses(p.namespace).List(t.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == 2, fmt.Sprint(list, err)
	})
	memory := strconv.Itoa(tenth)
	for i, want := range []map[string]string{
		{"main": "450m " + memory, "side": "1m 20Mi"},
		{"main": "50m " + memory, "side": "1m 10Mi"},
	} {
		if got := used(&list.Items[i]); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", list.Items[i].Name, got, want)
		}
	}
	nodes, err := client.NodeMetricses().List(t.Context(), metav1.ListOptions{LabelSelector: "place=" + p.namespace})
	if err != nil || len(nodes.Items) != 1 {
		t.Fatalf("nodes: %v, %v", nodes, err)
	}
	if u := nodes.Items[0].Usage; u.Cpu().MilliValue() != 450+50+2 || u.Memory().Value() != 2*tenth+30<<20 {
		t.Errorf("the node uses %v", u)
	}
}

// TestMetricsAreSelected by labels, by name and by namespace; what does not exist is not found.
func TestMetricsAreSelected(t *testing.T) {
	s := theServer(t)
	p, client := newPlace(t, s, node.SimulatedLabel), s.metrics(t, "")
	p.run(t, "one", nil)
	p.run(t, "two", nil)
	eventually(t, "both pods have figures", func() (bool, string) {
		list, err := client.PodMetricses(p.namespace).List(t.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == 2, fmt.Sprint(list, err)
	})
	byLabel, err := client.PodMetricses(p.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "name=two"})
	if err != nil || len(byLabel.Items) != 1 || byLabel.Items[0].Name != "two" || byLabel.Items[0].Labels["name"] != "two" {
		t.Errorf("by label: %v, %v", byLabel, err)
	}
	byName, err := client.PodMetricses("").List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=one,metadata.namespace=" + p.namespace})
	if err != nil || len(byName.Items) != 1 || byName.Items[0].Name != "one" {
		t.Errorf("by name: %v, %v", byName, err)
	}
	if _, err := client.PodMetricses(p.namespace).Get(t.Context(), "two", metav1.GetOptions{}); err != nil {
		t.Errorf("one pod: %v", err)
	}
	if _, err := client.PodMetricses(metav1.NamespaceDefault).Get(t.Context(), "two", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("in another namespace: %v", err)
	}
	if _, err := client.NodeMetricses().Get(t.Context(), "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("no node: %v", err)
	}
}

// TestMetricsOfLostNodes: a node that is not Ready has no figures, nor have its pods.
func TestMetricsOfLostNodes(t *testing.T) {
	s := theServer(t)
	p, client := newPlace(t, s, node.SimulatedLabel), s.metrics(t, "")
	p.run(t, "pod", nil)
	figures := func() (pod, node error) {
		_, pod = client.PodMetricses(p.namespace).Get(t.Context(), "pod", metav1.GetOptions{})
		_, node = client.NodeMetricses().Get(t.Context(), p.node, metav1.GetOptions{})
		return pod, node
	}
	eventually(t, "there are figures", func() (bool, string) {
		pod, node := figures()
		return pod == nil && node == nil, fmt.Sprint(pod, node)
	})
	lost := []byte(`{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`)
	_, err := p.client.CoreV1().Nodes().Patch(t.Context(), p.node, types.StrategicMergePatchType, lost, metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "there are none", func() (bool, string) {
		pod, node := figures()
		return apierrors.IsNotFound(pod) && apierrors.IsNotFound(node), fmt.Sprint(pod, node)
	})
}

// kubelet answers as one whose node uses half a processor, and two pods a quarter each. It is the way into the network
// of real nodes.
type kubelet struct {
	*httptest.Server
	asked     atomic.Int32
	namespace atomic.Value
}

func newKubelet() *kubelet {
	k, begin := &kubelet{}, time.Now()
	k.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics/resource" {
			http.NotFound(w, r)
			return
		}
		k.asked.Add(1)
		now := time.Now()
		quarter := now.Sub(begin).Seconds() / 4
		fmt.Fprintf(w, "node_cpu_usage_seconds_total %f %d\nnode_memory_working_set_bytes 2048\n", 2*quarter, now.UnixMilli())
		labels := func(pod string) string {
			return fmt.Sprintf(`{container="main",namespace=%q,pod=%q}`, k.namespace.Load(), pod)
		}
		for _, pod := range []string{"here", "there"} {
			fmt.Fprintf(w, "container_cpu_usage_seconds_total%s %f %d\n", labels(pod), quarter, now.UnixMilli())
			fmt.Fprintf(w, "container_memory_working_set_bytes%s 1024\n", labels(pod))
		}
	}))
	return k
}

// kubeletAddress is that of the node; it is known in the nodes' network alone.
var kubeletAddress = netip.MustParseAddr("10.127.0.77")

// Has knows the kubelet.
func (k *kubelet) Has(ip netip.Addr) bool { return ip == kubeletAddress }

// DialContext connects to it.
func (k *kubelet) DialContext(ctx context.Context, network, _ string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, k.Listener.Addr().String())
}

// TestMetricsOfRealNodes: a kubelet is asked by way of the API server, when a client asks and at no other time. What it
// says of pods on other nodes does not count.
func TestMetricsOfRealNodes(t *testing.T) {
	b, k := theBed(t), newKubelet()
	defer k.Close()
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	s, err := b.start(ctx, "/logical/"+fresh("real"), func(o *Options) { o.Inside = k })
	if err != nil {
		t.Fatal(err)
	}
	defer s.stop()
	p, other := newPlace(t, s, node.RealLabel), newPlace(t, s, "not-measured")
	k.namespace.Store(p.namespace)
	p.run(t, "here", nil)
	other.namespace = p.namespace
	other.run(t, "there", nil)
	if n := k.asked.Load(); n != 0 {
		t.Errorf("asked %d times at rest", n)
	}
	client := s.metrics(t, "")
	var list *metricsv1beta1.PodMetricsList
	eventually(t, "the pod has figures", func() (bool, string) {
		var err error
		list, err = client.PodMetricses(p.namespace).List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 1, fmt.Sprint(list, err)
	})
	about := func(q *resource.Quantity, milli int64) bool {
		return q.MilliValue() > milli-10 && q.MilliValue() < milli+10
	}
	if u := list.Items[0].Containers[0].Usage; list.Items[0].Name != "here" || !about(u.Cpu(), 250) || u.Memory().Value() != 1024 {
		t.Errorf("the pod: %v", list.Items[0])
	}
	one, err := client.NodeMetricses().Get(ctx, p.node, metav1.GetOptions{})
	if err != nil || !about(one.Usage.Cpu(), 500) || one.Usage.Memory().Value() != 2048 || one.Window.Duration < time.Second {
		t.Errorf("the node: %v, %v", one, err)
	}
	k.Close()
	eventually(t, "a kubelet that has gone has no figures", func() (bool, string) {
		_, err := client.NodeMetricses().Get(ctx, p.node, metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// TestMetricsAreDiscovered: the group is the last one, in both forms of discovery, and has metrics-server's resources.
func TestMetricsAreDiscovered(t *testing.T) {
	s := theServer(t)
	client := s.client(t).Discovery()
	groups, err := client.ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	if last := groups.Groups[len(groups.Groups)-1]; last.Name != "metrics.k8s.io" || last.PreferredVersion.Version != "v1beta1" {
		t.Errorf("the last group: %v", last)
	}
	var old metav1.APIGroupList
	s.read(t, "/apis", "application/json", &old)
	if !slices.ContainsFunc(old.Groups, func(g metav1.APIGroup) bool { return g.Name == "metrics.k8s.io" }) {
		t.Error("the list without resources lacks the group")
	}
	resources, err := client.ServerResourcesForGroupVersion("metrics.k8s.io/v1beta1")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range resources.APIResources {
		got = append(got, fmt.Sprintf("%s %s %t %v", r.Name, r.Kind, r.Namespaced, r.Verbs))
	}
	if want := []string{"nodes NodeMetrics false [get list]", "pods PodMetrics true [get list]"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var service struct {
		Status struct{ Conditions []metav1.Condition }
	}
	s.read(t, metricsService, "application/json", &service)
	if all := service.Status.Conditions; len(all) != 1 || all[0].Status != metav1.ConditionTrue {
		t.Errorf("the APIService: %v", all)
	}
}

const metricsService = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io"

// read reads what is at a path.
func (r *running) read(t *testing.T, path, accept string, into any) {
	t.Helper()
	text, err := r.client(t).Discovery().RESTClient().Get().RequestURI(path).SetHeader("Accept", accept).DoRaw(t.Context())
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMetricsAreForReaders: a user who may view a namespace may see what its pods use, and others may not. The seed has
// the role, and the roles that it is part of.
func TestMetricsAreForReaders(t *testing.T) {
	s, user := theServer(t), fresh("user")
	p, client := newPlace(t, s, node.SimulatedLabel), s.metrics(t, user)
	if _, err := client.PodMetricses(p.namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a stranger: %v", err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "view"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := p.client.RbacV1().RoleBindings(p.namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a user who may view sees metrics", func() (bool, string) {
		_, err := client.PodMetricses(p.namespace).List(t.Context(), metav1.ListOptions{})
		return err == nil, fmt.Sprint(err)
	})
	if _, err := client.NodeMetricses().List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("nodes, which are in no namespace: %v", err)
	}
}

// TestMetricsAreCompleted: the API's objects are made where they are missing, as in a cluster of an older program, and
// stay as they are where they are not. The server goes on meanwhile, and a metrics-server may take the group.
func TestMetricsAreCompleted(t *testing.T) {
	b := theBed(t)
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	s, err := b.start(ctx, "/logical/"+fresh("completed"), func(*Options) {})
	if err != nil {
		t.Fatal(err)
	}
	defer s.stop()
	roles, client := s.client(t).RbacV1().ClusterRoles(), s.client(t).Discovery().RESTClient()
	const role = "system:aggregated-metrics-reader"
	if err := roles.Delete(ctx, role, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	taken := []byte(`{"spec":{"service":{"namespace":"kube-system","name":"metrics-server"},"insecureSkipTLSVerify":true}}`)
	if err := client.Patch(types.MergePatchType).AbsPath(metricsService).Body(taken).Do(ctx).Error(); err != nil {
		t.Fatal(err)
	}
	if err := metricsapi.Ensure(ctx, s.Loopback()); err != nil {
		t.Fatal(err)
	}
	if _, err := roles.Get(ctx, role, metav1.GetOptions{}); err != nil {
		t.Errorf("the role: %v", err)
	}
	eventually(t, "the group is the other server's, which does not answer", func() (bool, string) {
		_, err := s.metrics(t, "").NodeMetricses().List(ctx, metav1.ListOptions{})
		return apierrors.IsServiceUnavailable(err), fmt.Sprint(err)
	})
	if err := client.Delete().AbsPath(metricsService).Do(ctx).Error(); err != nil {
		t.Fatal(err)
	}
	if err := metricsapi.Ensure(ctx, s.Loopback()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the group is here again", func() (bool, string) {
		_, err := s.metrics(t, "").NodeMetricses().List(ctx, metav1.ListOptions{})
		return err == nil, fmt.Sprint(err)
	})
}

// TestMetricsArePrinted: kubectl's tables have metrics-server's columns.
func TestMetricsArePrinted(t *testing.T) {
	s := theServer(t)
	p := newPlace(t, s, node.SimulatedLabel)
	p.run(t, "pod", nil)
	client := s.metrics(t, "")
	eventually(t, "the pod has figures", func() (bool, string) {
		_, err := client.PodMetricses(p.namespace).Get(t.Context(), "pod", metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
	const group = "/apis/metrics.k8s.io/v1beta1/"
	memory := strconv.Itoa(tenth + 10<<20)
	for path, name := range map[string]string{
		"namespaces/" + p.namespace + "/pods": "pod", "namespaces/" + p.namespace + "/pods/pod": "pod", "nodes/" + p.node: p.node,
		"nodes?labelSelector=place%3D" + p.namespace: p.node,
	} {
		var table metav1.Table
		s.read(t, group+path, "application/json;as=Table;g=meta.k8s.io;v=v1", &table)
		if want := []any{name, "51m", memory, "1s"}; len(table.Rows) != 1 || !slices.Equal(table.Rows[0].Cells, want) {
			t.Errorf("%s: %v, want %v", path, table.Rows, want)
		}
	}
}
