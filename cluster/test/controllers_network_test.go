package test

import (
	"context"
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// loadBalancers is the range that docs/reference/cluster-contents.md promises.
var loadBalancers = netip.MustParsePrefix("203.0.113.0/24")

func makeService(t *testing.T, c clients, ns, name string, change func(*corev1.ServiceSpec)) {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	change(&service.Spec)
	must[*corev1.Service](t)(c.CoreV1().Services(ns).Create(t.Context(), service, metav1.CreateOptions{}))
}

func balanced(spec *corev1.ServiceSpec) { spec.Type = corev1.ServiceTypeLoadBalancer }

// address waits for the address of a Service.
func address(t *testing.T, c clients, ns, name string) netip.Addr {
	t.Helper()
	var ip string
	eventually(t, "service "+name+" has an address", func(ctx context.Context) (bool, error) {
		s, err := c.CoreV1().Services(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil || len(s.Status.LoadBalancer.Ingress) == 0 {
			return false, err
		}
		ip = s.Status.LoadBalancer.Ingress[0].IP
		return true, nil
	})
	return must[netip.Addr](t)(netip.ParseAddr(ip))
}

func loadBalancerGetsAddress(t *testing.T, c clients, ns string) {
	makeService(t, c, ns, "web", balanced)
	if a := address(t, c, ns, "web"); !loadBalancers.Contains(a) {
		t.Errorf("%v is not of the range", a)
	}
	services := c.CoreV1().Services(ns)
	patch := []byte(`{"spec":{"type":"ClusterIP"}}`)
	must[*corev1.Service](t)(services.Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}))
	eventually(t, "the address is taken back", func(ctx context.Context) (bool, error) {
		s, err := services.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && len(s.Status.LoadBalancer.Ingress) == 0, err
	})
}

func loadBalancersDiffer(t *testing.T, c clients, ns string) {
	wanted := netip.MustParseAddr("203.0.113.200")
	makeService(t, c, ns, "wishes", func(spec *corev1.ServiceSpec) {
		balanced(spec)
		spec.LoadBalancerIP = wanted.String()
	})
	makeService(t, c, ns, "first", balanced)
	makeService(t, c, ns, "second", balanced)
	if a := address(t, c, ns, "wishes"); a != wanted {
		t.Errorf("got %v, wanted %v", a, wanted)
	}
	if a, b := address(t, c, ns, "first"), address(t, c, ns, "second"); a == b {
		t.Errorf("both have %v", a)
	}
}

func loadBalancerOfClass(t *testing.T, c clients, ns string) {
	makeService(t, c, ns, "other", func(spec *corev1.ServiceSpec) {
		balanced(spec)
		spec.LoadBalancerClass = ptr.To("example.com/other")
	})
	makeService(t, c, ns, "later", balanced)
	address(t, c, ns, "later") // one controller serves Services in turn
	other := must[*corev1.Service](t)(c.CoreV1().Services(ns).Get(t.Context(), "other", metav1.GetOptions{}))
	if len(other.Status.LoadBalancer.Ingress) > 0 {
		t.Errorf("got %v", other.Status.LoadBalancer.Ingress)
	}
}

func endpointsAreMirrored(t *testing.T, c clients, ns string) {
	makeService(t, c, ns, "outside", func(*corev1.ServiceSpec) {})
	endpoints := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Endpoints", "metadata": map[string]any{"name": "outside"},
		"subsets": []any{map[string]any{"addresses": []any{map[string]any{"ip": "192.0.2.7"}}, "ports": []any{map[string]any{"port": int64(80)}}}},
	}}
	resource := corev1.SchemeGroupVersion.WithResource("endpoints")
	must[*unstructured.Unstructured](t)(c.dynamic.Resource(resource).Namespace(ns).Create(t.Context(), endpoints, metav1.CreateOptions{}))
	eventually(t, "a slice has the address", func(ctx context.Context) (bool, error) {
		slices, err := c.DiscoveryV1().EndpointSlices(ns).List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=outside"})
		return err == nil && len(slices.Items) == 1 && slices.Items[0].Endpoints[0].Addresses[0] == "192.0.2.7", err
	})
}

func serviceRangeReady(t *testing.T, c clients, _ string) {
	eventually(t, "the default range is ready", func(ctx context.Context) (bool, error) {
		r, err := c.NetworkingV1().ServiceCIDRs().Get(ctx, "kubernetes", metav1.GetOptions{})
		return err == nil && meta.IsStatusConditionTrue(r.Status.Conditions, networkingv1.ServiceCIDRConditionReady), err
	})
}
