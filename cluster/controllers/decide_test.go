package controllers

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corelisters "k8s.io/client-go/listers/core/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/hostaddress"
)

// indexed is what an informer has that knows these objects.
func indexed[T any](t *testing.T, objects ...T) cache.Indexer {
	t.Helper()
	i := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, o := range objects {
		if err := i.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	return i
}

func serviceAt(name string, kind corev1.ServiceType, ips ...string) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: corev1.ServiceSpec{Type: kind}}
	for _, ip := range ips {
		s.Status.LoadBalancer.Ingress = append(s.Status.LoadBalancer.Ingress, corev1.LoadBalancerIngress{IP: ip})
	}
	return s
}

func TestBalanced(t *testing.T) {
	changed := func(f func(*corev1.Service)) *corev1.Service {
		s := serviceAt("a", corev1.ServiceTypeLoadBalancer)
		f(s)
		return s
	}
	for name, tt := range map[string]struct {
		service *corev1.Service
		want    bool
	}{
		"a load balancer":  {changed(func(*corev1.Service) {}), true},
		"another type":     {serviceAt("a", corev1.ServiceTypeNodePort), false},
		"another's class":  {changed(func(s *corev1.Service) { s.Spec.LoadBalancerClass = ptr.To("other") }), false},
		"one that is gone": {changed(func(s *corev1.Service) { s.DeletionTimestamp = &metav1.Time{} }), false},
	} {
		if balanced(tt.service) != tt.want {
			t.Errorf("%s: want %v", name, tt.want)
		}
	}
}

func TestOursIsOneAddressOfTheRange(t *testing.T) {
	at := func(ips ...string) []corev1.LoadBalancerIngress {
		return serviceAt("a", corev1.ServiceTypeLoadBalancer, ips...).Status.LoadBalancer.Ingress
	}
	for _, tt := range []struct {
		ingress []corev1.LoadBalancerIngress
		want    bool
	}{
		{at("203.0.113.7"), true}, {at("127.64.0.7"), false}, {at("127.0.0.1"), false}, {at("192.0.2.7"), false}, {at("203.0.113.7", "203.0.113.8"), false}, {nil, false},
		{[]corev1.LoadBalancerIngress{{IP: "127.64.0.7", IPMode: ptr.To(corev1.LoadBalancerIPModeProxy), Ports: []corev1.PortStatus{{Port: 80}}}}, true},
		{[]corev1.LoadBalancerIngress{{IP: "127.64.0.7", IPMode: ptr.To(corev1.LoadBalancerIPModeVIP), Ports: []corev1.PortStatus{{Port: 80}}}}, false},
		{[]corev1.LoadBalancerIngress{{Hostname: "lb.example.com"}}, false},
	} {
		if (&loadBalancer{}).ours(tt.ingress) != tt.want {
			t.Errorf("%v: want %v", tt.ingress, tt.want)
		}
	}
}

// TestOursIsAnAddressWithPorts: an ingress controller in the cluster publishes the address of its load balancer,
// without ports; that stays.
func TestOursIsAnAddressWithPorts(t *testing.T) {
	host := hostaddress.Of("/state")
	own, services := host.Ingress().String(), host.Services()
	balancer := services[len(services)-1].String()
	ports := []networkingv1.IngressPortStatus{{Port: 8080}}
	for _, tt := range []struct {
		host hostaddress.Range
		at   []networkingv1.IngressLoadBalancerIngress
		want bool
	}{
		{host, []networkingv1.IngressLoadBalancerIngress{{IP: own, Ports: ports}}, true},
		{host, []networkingv1.IngressLoadBalancerIngress{{IP: balancer}}, false},
		{host, []networkingv1.IngressLoadBalancerIngress{{IP: balancer, Ports: ports}}, host.Shared()},
		{host, []networkingv1.IngressLoadBalancerIngress{{IP: "198.51.100.1"}}, true},
		{hostaddress.Range{}, []networkingv1.IngressLoadBalancerIngress{{IP: own, Ports: ports}}, true},
		{hostaddress.Range{}, []networkingv1.IngressLoadBalancerIngress{{IP: "127.0.0.1"}}, false},
		{host, []networkingv1.IngressLoadBalancerIngress{{Hostname: "localhost"}}, false}, {host, nil, false},
	} {
		if got := (&ingress{host: tt.host}).ours(tt.at); got != tt.want {
			t.Errorf("%+v is ours: %v", tt.at, got)
		}
	}
}

// TestFitsAddress: an address stays as long as it is of the cluster's range and has a port for each of the Service's.
func TestFitsAddress(t *testing.T) {
	host := hostaddress.Of("/state")
	ip := host.Services()[0].String()
	service := serviceAt("a", corev1.ServiceTypeLoadBalancer)
	service.Spec.Ports = []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}, {Port: 53, Protocol: corev1.ProtocolUDP}}
	at := func(ip string, ports ...corev1.PortStatus) corev1.LoadBalancerIngress {
		return corev1.LoadBalancerIngress{IP: ip, Ports: ports}
	}
	tcp, udp := func(n int32) corev1.PortStatus { return corev1.PortStatus{Port: n, Protocol: corev1.ProtocolTCP} }, corev1.PortStatus{Port: 53, Protocol: corev1.ProtocolUDP}
	for _, tt := range []struct {
		host  hostaddress.Range
		given corev1.LoadBalancerIngress
		want  bool
	}{
		{host, at(ip, tcp(80), udp), true}, {host, at(ip, tcp(8080), udp), true}, {host, at(ip, tcp(81), udp), false}, {host, at(ip, udp, tcp(80)), false},
		{host, at(ip, tcp(80)), false}, {host, at(ip), false}, {host, at("203.0.113.1"), false}, {host, at("192.0.2.1", tcp(80), udp), false},
		{host, at("", tcp(80), udp), false}, {hostaddress.Range{}, at("203.0.113.1"), true}, {hostaddress.Range{}, at(ip, tcp(80), udp), false},
	} {
		if got := (&loadBalancer{host: tt.host}).fits(service, tt.given); got != tt.want {
			t.Errorf("%+v fits: %v", tt.given, got)
		}
	}
}

// asking is a Service that asks for an address.
func asking(address string) *corev1.Service {
	return &corev1.Service{Spec: corev1.ServiceSpec{LoadBalancerIP: address}}
}

// TestChooseAddress: the one that is asked for if it can be had, else the lowest that neither a Service shows nor was
// given to one.
func TestChooseAddress(t *testing.T) {
	shown := []*corev1.Service{
		serviceAt("one", corev1.ServiceTypeLoadBalancer, "203.0.113.1"), serviceAt("own", corev1.ServiceTypeLoadBalancer, "203.0.113.9"),
		serviceAt("name", corev1.ServiceTypeLoadBalancer, "no address"),
	}
	given := map[string]string{"203.0.113.2": "ns/two", "203.0.113.5": "ns/own"}
	for _, tt := range []struct{ key, asks, want string }{
		{"ns/new", "", "203.0.113.3"},
		{"ns/new", "203.0.113.77", "203.0.113.77"},
		{"ns/new", "203.0.113.1", "203.0.113.3"},
		{"ns/new", "203.0.113.2", "203.0.113.3"},
		{"ns/new", "192.0.2.1", "203.0.113.3"},
		{"ns/new", "nonsense", "203.0.113.3"},
		{"ns/two", "203.0.113.2", "203.0.113.2"},
		{"ns/own", "203.0.113.9", "203.0.113.9"},
		{"ns/own", "203.0.113.5", "203.0.113.5"},
	} {
		b := &loadBalancer{services: corelisters.NewServiceLister(indexed(t, shown...)), given: map[string]corev1.LoadBalancerIngress{}}
		for a, key := range given {
			b.given[key] = corev1.LoadBalancerIngress{IP: a}
		}
		got, err := b.choose(t.Context(), tt.key, asking(tt.asks))
		if err != nil || got.IP != tt.want {
			t.Errorf("%s, which asks for %q, gets %v, want %s; %v", tt.key, tt.asks, got, tt.want, err)
		}
		if b.given[tt.key].IP != tt.want {
			t.Errorf("%v was given to %q", b.given[tt.key], tt.key)
		}
	}
}

// TestAddressesRunOut: neither the network's own address nor the broadcast address is given out; then there are none.
func TestAddressesRunOut(t *testing.T) {
	b := &loadBalancer{services: corelisters.NewServiceLister(indexed[*corev1.Service](t)), given: map[string]corev1.LoadBalancerIngress{}}
	for n := 1; n <= 254; n++ {
		if a, err := b.choose(t.Context(), fmt.Sprint("ns/", n), asking("")); err != nil || a.IP != fmt.Sprint("203.0.113.", n) {
			t.Fatalf("%d: %v, %v", n, a, err)
		}
	}
	if a, err := b.choose(t.Context(), "ns/last", asking("")); !errors.Is(err, errNoAddress) {
		t.Errorf("one more gets %v, %v", a, err)
	}
	delete(b.given, "ns/100")
	if a, err := b.choose(t.Context(), "ns/last", asking("")); err != nil || a.IP != "203.0.113.100" {
		t.Errorf("after one was given back: %v, %v", a, err)
	}
}

func TestIngressClassOf(t *testing.T) {
	class := func(name, controller string) *networkingv1.IngressClass {
		return &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.IngressClassSpec{Controller: controller}}
	}
	c := &ingress{classes: networkinglisters.NewIngressClassLister(indexed(t, class("ours", IngressController), class("foreign", "example.com/other")))}
	for _, tt := range []struct {
		field      *string
		annotation string
		want       bool
	}{
		{nil, "", false}, {ptr.To("ours"), "", true}, {nil, "ours", true}, {ptr.To("foreign"), "ours", false}, {ptr.To("ours"), "foreign", true},
		{ptr.To(""), "ours", true}, {ptr.To("absent"), "", false}, {nil, "foreign", false},
	} {
		i := &networkingv1.Ingress{Spec: networkingv1.IngressSpec{IngressClassName: tt.field}}
		if tt.annotation != "" {
			i.Annotations = map[string]string{classAnnotation: tt.annotation}
		}
		if got, err := c.served(i); got != tt.want || err != nil {
			t.Errorf("field %v, annotation %q: %v, %v", tt.field, tt.annotation, got, err)
		}
	}
}

func TestOutOfService(t *testing.T) {
	for _, tt := range []struct {
		ready corev1.ConditionStatus
		taint string
		want  bool
	}{
		{corev1.ConditionFalse, corev1.TaintNodeOutOfService, true}, {corev1.ConditionUnknown, corev1.TaintNodeOutOfService, true}, {"", corev1.TaintNodeOutOfService, true},
		{corev1.ConditionTrue, corev1.TaintNodeOutOfService, false}, {corev1.ConditionFalse, corev1.TaintNodeUnreachable, false},
	} {
		n := &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: tt.taint}}}}
		if tt.ready != "" {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: tt.ready}}
		}
		if outOfService(n) != tt.want {
			t.Errorf("ready %q, taint %s: want %v", tt.ready, tt.taint, tt.want)
		}
	}
}

// TestSurplus: of more pods than are kept those that have ended go, the oldest first, and by name where they are of the
// same age.
func TestSurplus(t *testing.T) {
	var pods []*corev1.Pod
	for _, p := range []struct {
		name  string
		age   time.Duration
		phase corev1.PodPhase
	}{
		{"young", time.Minute, corev1.PodSucceeded}, {"b", time.Hour, corev1.PodFailed}, {"runs", 2 * time.Hour, corev1.PodRunning}, {"a", time.Hour, corev1.PodSucceeded},
	} {
		pods = append(pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: p.name, CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-p.age))},
			Status:     corev1.PodStatus{Phase: p.phase},
		})
	}
	c := &podCollector{pods: corelisters.NewPodLister(indexed(t, pods...))}
	for keep, want := range map[int][]string{0: {"a", "b", "young"}, 1: {"a", "b"}, 2: {"a"}, 3: nil, 4: nil, 10: nil} {
		var got []string
		for _, p := range c.surplus(keep) {
			got = append(got, p.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("keep %d: %q, want %q", keep, got, want)
		}
	}
}

func TestVolumeFor(t *testing.T) {
	request := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "data", UID: "uid", ResourceVersion: "7"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeMode: ptr.To(corev1.PersistentVolumeBlock),
			Resources: corev1.VolumeResourceRequirements{Requests: request},
		},
	}
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, MountOptions: []string{"ro"}}
	v := volumeFor(claim, class)
	ref := v.Spec.ClaimRef
	if v.Name != "pvc-uid" || ref.Namespace != "ns" || ref.Name != "data" || ref.UID != "uid" || v.Spec.StorageClassName != "fast" || *v.Spec.VolumeMode != corev1.PersistentVolumeBlock {
		t.Errorf("%+v", v.Spec)
	}
	if size := v.Spec.Capacity[corev1.ResourceStorage]; size.String() != "2Gi" {
		t.Errorf("it has %s", size.String())
	}
	if v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		t.Errorf("without a policy: %s", v.Spec.PersistentVolumeReclaimPolicy)
	}
	class.ReclaimPolicy = ptr.To(corev1.PersistentVolumeReclaimRetain)
	if p := volumeFor(claim, class).Spec.PersistentVolumeReclaimPolicy; p != corev1.PersistentVolumeReclaimRetain {
		t.Errorf("with a policy: %s", p)
	}
}

func TestWaitsForNode(t *testing.T) {
	for _, tt := range []struct {
		mode *storagev1.VolumeBindingMode
		node string
		want bool
	}{
		{nil, "", false}, {ptr.To(storagev1.VolumeBindingImmediate), "", false},
		{ptr.To(storagev1.VolumeBindingWaitForFirstConsumer), "", true}, {ptr.To(storagev1.VolumeBindingWaitForFirstConsumer), "node-1", false},
	} {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{selectedNodeAnnotation: tt.node}}}
		if waitsForNode(claim, &storagev1.StorageClass{VolumeBindingMode: tt.mode}) != tt.want {
			t.Errorf("mode %v, node %q: want %v", tt.mode, tt.node, tt.want)
		}
	}
}

func TestReclaimable(t *testing.T) {
	left := func(change func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
		v := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{provisionedByAnnotation: Provisioner}},
			Spec:       corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete},
			Status:     corev1.PersistentVolumeStatus{Phase: corev1.VolumeReleased},
		}
		change(v)
		return v
	}
	for name, tt := range map[string]struct {
		volume any
		want   bool
	}{
		"left over": {left(func(*corev1.PersistentVolume) {}), true},
		"bound":     {left(func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeBound }), false},
		"to be kept": {left(func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		}), false},
		"another's":       {left(func(v *corev1.PersistentVolume) { v.Annotations[provisionedByAnnotation] = "other" }), false},
		"deleted already": {left(func(v *corev1.PersistentVolume) { v.DeletionTimestamp = &metav1.Time{} }), false},
		"no volume":       {&corev1.Pod{}, false},
	} {
		if reclaimable(tt.volume) != tt.want {
			t.Errorf("%s: want %v", name, tt.want)
		}
	}
}

func TestCRDIsFinishedAfterItsObjects(t *testing.T) {
	crd := func(finalizer string, terminating apiextensions.ConditionStatus) *apiextensions.CustomResourceDefinition {
		c := &apiextensions.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{finalizer}}}
		c.Status.Conditions = []apiextensions.CustomResourceDefinitionCondition{{Type: apiextensions.Terminating, Status: terminating}}
		return c
	}
	const cleanup = apiextensions.CustomResourceCleanupFinalizer
	for _, tt := range []struct {
		crd  *apiextensions.CustomResourceDefinition
		want bool
	}{
		{crd(cleanup, apiextensions.ConditionTrue), true}, {crd(cleanup, apiextensions.ConditionFalse), false},
		{crd("example.com/other", apiextensions.ConditionTrue), false}, {&apiextensions.CustomResourceDefinition{}, false},
	} {
		if deletesObjects(tt.crd) != tt.want {
			t.Errorf("%v, %v: want %v", tt.crd.Finalizers, tt.crd.Status.Conditions, tt.want)
		}
	}
	two := &apiextensions.CustomResourceDefinition{Spec: apiextensions.CustomResourceDefinitionSpec{
		Versions: []apiextensions.CustomResourceDefinitionVersion{{Name: "v1alpha1"}, {Name: "v1", Served: true}},
	}}
	if got := servedVersion(two); got != "v1" {
		t.Errorf("the version that is served is %q", got)
	}
	if got := servedVersion(&apiextensions.CustomResourceDefinition{}); got != "" {
		t.Errorf("without one: %q", got)
	}
}

func TestIgnoreNotFound(t *testing.T) {
	other := errors.New("other")
	if err := ignoreNotFound(apierrors.NewNotFound(schema.GroupResource{}, "a")); err != nil {
		t.Error(err)
	}
	if err := ignoreNotFound(other); !errors.Is(err, other) {
		t.Error(err)
	}
}
