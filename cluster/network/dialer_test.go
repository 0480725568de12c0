package network_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/network"
)

// clusterIP is the address of a Service with an EndpointSlice by hand, selectingIP that of one with a selector.
const clusterIP, selectingIP = "10.0.0.7", "10.0.0.8"

func TestServiceLeadsToThisMachine(t *testing.T) {
	_, port := listen(t, "127.0.0.1:0")
	for name, slices := range map[string][]*discoveryv1.EndpointSlice{
		"this machine":                  {slice("a", network.Host.String(), port)},
		"this machine before others":    {slice("a", "10.128.0.1", port), slice("b", network.Host.String(), port)},
		"what is not ready is left out": {notReady(slice("a", "192.0.2.1", port)), slice("b", network.Host.String(), port)},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := dialer(t, slices...).Dial(t.Context(), "tcp", clusterIP+":443")
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.Close()
		})
	}
}

func TestDialSaysWhatHelps(t *testing.T) {
	listener, port := listen(t, "127.0.0.1:0")
	_ = listener.Close() // nobody listens there now
	for _, test := range []struct {
		name, address, want string
		slices              []*discoveryv1.EndpointSlice
		simulated           bool
	}{
		{name: "no endpoints", address: clusterIP + ":443", want: "Service ns/hook has no ready endpoints"},
		{
			name: "a simulated endpoint", address: clusterIP + ":443", want: "leads to 10.128.0.1", simulated: true,
			slices: []*discoveryv1.EndpointSlice{slice("a", "10.128.0.1", port)},
		},
		{
			name: "a program that does not run", address: clusterIP + ":443", want: "does the program run",
			slices: []*discoveryv1.EndpointSlice{slice("a", network.Host.String(), port)},
		},
		{name: "another port", address: clusterIP + ":444", want: "no port 444"},
		{name: "a pod", address: "10.128.0.1:80", want: "10.128.0.1", simulated: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := dialer(t, test.slices...).Dial(t.Context(), "tcp", test.address)
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, network.ErrSimulated) != test.simulated {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestKubeletsOfSimulatedNodesOnly(t *testing.T) {
	_, port := listen(t, "127.0.0.1:0")
	d := dialer(t)
	if _, err := d.Kubelet(t.Context(), "tcp", "10.127.0.1:10250"); !errors.Is(err, errKubelet) {
		t.Errorf("a simulated node: %v", err)
	}
	conn, err := d.Kubelet(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatalf("a real node: %v", err)
	}
	_ = conn.Close()
}

var errKubelet = errors.New("a simulated kubelet")

type kubelets struct{}

func (kubelets) Dial(context.Context) (net.Conn, error) { return nil, errKubelet }

// TestRefusalNamesThePod: a Service without ready endpoints names the pod that stands for it, and what that waits for.
func TestRefusalNamesThePod(t *testing.T) {
	waiting := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	ended := func(code int32) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: "secret"}}
	}
	pod := func(name string, phase corev1.PodPhase, containers ...corev1.ContainerStatus) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: phase, ContainerStatuses: containers}}
	}
	unscheduled := pod("z", corev1.PodPending)
	unscheduled.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available:\n1 Insufficient cpu."}}
	unplaced := pod("z", corev1.PodPending)
	unplaced.Spec.NodeName = ""
	probed := pod("z", corev1.PodRunning, corev1.ContainerStatus{Name: "c"})
	probed.Spec.Containers = []corev1.Container{{Name: "c", ReadinessProbe: &corev1.Probe{}}}
	ready := pod("z", corev1.PodRunning)
	ready.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	going := pod("a", corev1.PodRunning)
	going.DeletionTimestamp = &metav1.Time{}
	initial := pod("z", corev1.PodPending, corev1.ContainerStatus{Name: "c", State: waiting("PodInitializing", "")})
	initial.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "i", State: ended(3)}}
	for want, pods := range map[string][]corev1.Pod{
		"no pod in the namespace has the labels of its selector, app=hook":                                     nil,
		"its pod z waits: ImagePullBackOff: Back-off pulling image demo:v1; or run":                            {pod("z", corev1.PodPending, corev1.ContainerStatus{State: waiting("ImagePullBackOff", "Back-off pulling image\n demo:v1")})},
		"its pod z waits: CrashLoopBackOff: back-off; its container c ended with exit code 2 (Error) last; or": {pod("z", corev1.PodRunning, corev1.ContainerStatus{Name: "c", State: waiting("CrashLoopBackOff", "back-off"), LastTerminationState: ended(2)})},
		"its pod z waits: its container c ended with exit code 2 (Error); or":                                  {pod("z", corev1.PodRunning, corev1.ContainerStatus{Name: "c", State: ended(2)})},
		"its pod z waits: its container i ended with exit code 3 (Error); or":                                  {initial},
		"its pod z is not scheduled: 0/1 nodes are available: 1 Insufficient cpu.; or":                         {unscheduled},
		"its pod z waits: the scheduler has not placed it; or":                                                 {unplaced},
		"its pod z waits: its containers are being created on node n; or":                                      {pod("z", corev1.PodPending, corev1.ContainerStatus{State: waiting("ContainerCreating", "")})},
		"its pod z runs but is not ready: the readiness probe of its container c has not succeeded; or":        {probed},
		"its pod z runs but is not ready: its container c is not; or":                                          {pod("z", corev1.PodRunning, corev1.ContainerStatus{Name: "c"})},
		"its pod z is ready but has no endpoint for this port yet; or":                                         {ready},
		"its pod z has ended: Failed: Evicted; or":                                                             {func() corev1.Pod { p := pod("z", corev1.PodFailed); p.Status.Reason = "Evicted"; return p }()},
		"its pod a is being deleted; or":                                                                       {going},
		"its pod z waits: its containers are being created on node n (2 more of its pods); or":                 {going, pod("b", corev1.PodSucceeded), pod("z", corev1.PodPending)},
	} {
		d := dialer(t)
		d.Explain(func(_ context.Context, namespace string, _ labels.Selector) ([]corev1.Pod, error) {
			if namespace != "ns" {
				t.Errorf("pods of namespace %s", namespace)
			}
			return pods, nil
		})
		_, err := d.Dial(t.Context(), "tcp", selectingIP+":443")
		if err == nil || !strings.Contains(err.Error(), "Service ns/selecting has no ready endpoints: "+want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	long := dialer(t)
	long.Explain(func(context.Context, string, labels.Selector) ([]corev1.Pod, error) {
		return []corev1.Pod{pod("z", corev1.PodPending, corev1.ContainerStatus{State: waiting("ErrImagePull", strings.Repeat("ü", 2000))})}, nil
	})
	if _, err := long.Dial(t.Context(), "tcp", selectingIP+":443"); err == nil || len(err.Error()) > 1500 || !utf8.ValidString(err.Error()) {
		t.Errorf("a long message: %v", err)
	}
	failing := dialer(t)
	failing.Explain(func(context.Context, string, labels.Selector) ([]corev1.Pod, error) { return nil, errKubelet })
	if _, err := failing.Dial(t.Context(), "tcp", selectingIP+":443"); err == nil || !strings.Contains(err.Error(), "no ready endpoints: run the program") {
		t.Errorf("pods that cannot be listed: %v", err)
	}
}

// dialer knows the Service ns/hook with these EndpointSlices.
func dialer(t *testing.T, slices ...*discoveryv1.EndpointSlice) *network.Dialer {
	t.Helper()
	f := informers.NewSharedInformerFactory(nil, 0)
	d, err := network.NewDialer(f, kubelets{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hook"}, Spec: corev1.ServiceSpec{
		ClusterIPs: []string{clusterIP}, Ports: []corev1.ServicePort{{Name: "https", Port: 443}},
	}}
	if err := f.Core().V1().Services().Informer().GetIndexer().Add(service); err != nil {
		t.Fatal(err)
	}
	selecting := service.DeepCopy()
	selecting.Name, selecting.Spec.ClusterIPs, selecting.Spec.Selector = "selecting", []string{selectingIP}, map[string]string{"app": "hook"}
	if err := f.Core().V1().Services().Informer().GetIndexer().Add(selecting); err != nil {
		t.Fatal(err)
	}
	for _, s := range slices {
		if err := f.Discovery().V1().EndpointSlices().Informer().GetIndexer().Add(s); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func slice(name, address, port string) *discoveryv1.EndpointSlice {
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		panic(err)
	}
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: "hook"}},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{address}}},
		Ports:      []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: ptr.To(int32(number))}},
	}
}

func notReady(s *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	s.Endpoints[0].Conditions.Ready = ptr.To(false)
	return s
}

// listen takes connections on an address for as long as the test runs.
func listen(t *testing.T, address string) (net.Listener, string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return l, port
}
