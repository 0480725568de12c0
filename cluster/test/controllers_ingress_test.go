package test

import (
	"context"
	"net/netip"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// ingresses is the range that docs/reference/cluster-contents.md promises.
var ingresses = netip.MustParsePrefix("198.51.100.0/24")

func makeIngress(t *testing.T, c clients, ns, name string, class *string) *networkingv1.Ingress {
	t.Helper()
	backend := &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	ingress := &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       networkingv1.IngressSpec{IngressClassName: class, DefaultBackend: backend},
	}
	return must[*networkingv1.Ingress](t)(c.NetworkingV1().Ingresses(ns).Create(t.Context(), ingress, metav1.CreateOptions{}))
}

// ingressHasAddress waits until the Ingress has an address of the range, or until it has none.
func ingressHasAddress(t *testing.T, c clients, ns, name string, wanted bool) {
	t.Helper()
	eventually(t, "the ingress "+name+" is as wanted", func(ctx context.Context) (bool, error) {
		i, err := c.NetworkingV1().Ingresses(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil || len(i.Status.LoadBalancer.Ingress) == 0 {
			return !wanted, err
		}
		a := must[netip.Addr](t)(netip.ParseAddr(i.Status.LoadBalancer.Ingress[0].IP))
		return wanted && ingresses.Contains(a), nil
	})
}

func ingressGetsClassAndAddress(t *testing.T, c clients, ns string) {
	if i := makeIngress(t, c, ns, "web", nil); ptr.Deref(i.Spec.IngressClassName, "") != "slipway" {
		t.Errorf("its class is %v", i.Spec.IngressClassName)
	}
	ingressHasAddress(t, c, ns, "web", true)
	patch := []byte(`{"spec":{"ingressClassName":"other"}}`)
	must[*networkingv1.Ingress](t)(c.NetworkingV1().Ingresses(ns).Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}))
	ingressHasAddress(t, c, ns, "web", false)
}

func ingressOfOtherClass(t *testing.T, c clients, ns string) {
	makeIngress(t, c, ns, "other", ptr.To(ns))
	makeIngress(t, c, ns, "later", nil)
	ingressHasAddress(t, c, ns, "later", true) // one controller serves Ingresses in turn
	ingressHasAddress(t, c, ns, "other", false)
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: networkingv1.IngressClassSpec{Controller: "slipway.dev/ingress"}}
	must[*networkingv1.IngressClass](t)(c.NetworkingV1().IngressClasses().Create(t.Context(), class, metav1.CreateOptions{}))
	ingressHasAddress(t, c, ns, "other", true) // a class may come after its Ingresses
}
