package controllers_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/hostaddress"
)

// TestLoadBalancerAddresses: Services get the lowest free address or the one that they ask for, keep it, and give it
// back when they go or become something else. A class that somebody else implements is left alone.
func TestLoadBalancerAddresses(t *testing.T) {
	client := run(t, "service-lb-controller")
	ns := namespace(t, client, "balanced")
	services := client.CoreV1().Services(ns)
	create := func(s *corev1.Service) {
		t.Helper()
		if _, err := services.Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(name, want string) {
		t.Helper()
		eventually(t, "the address of "+name, want, func(ctx context.Context) (string, error) {
			s, err := services.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return "", err
			}
			text := ""
			for _, i := range s.Status.LoadBalancer.Ingress {
				text += i.IP
			}
			return text, nil
		})
	}
	create(balanced("first", ""))
	expect("first", "203.0.113.1")
	create(balanced("asks", "203.0.113.2"))
	expect("asks", "203.0.113.2")
	foreign := balanced("foreign", "")
	foreign.Spec.LoadBalancerClass = ptr.To("example.com/other")
	create(foreign)
	create(balanced("late", "203.0.113.1")) // taken
	expect("late", "203.0.113.3")
	create(balanced("elsewhere", "192.0.2.1")) // not in the range
	expect("elsewhere", "203.0.113.4")
	expect("foreign", "")

	if _, err := services.Patch(t.Context(), "first", "application/merge-patch+json", []byte(`{"spec":{"type":"ClusterIP"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("first", "")
	create(balanced("next", ""))
	expect("next", "203.0.113.1")
	if err := services.Delete(t.Context(), "asks", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the address of one that went", "203.0.113.2", func(ctx context.Context) (string, error) {
		s := balanced("", "203.0.113.2")
		s.GenerateName = "again-"
		made, err := services.Create(ctx, s, metav1.CreateOptions{})
		if err != nil {
			return "", err
		}
		name, got := made.Name, ""
		eventually(t, "an address of "+name, true, func(ctx context.Context) (bool, error) {
			s, err := services.Get(ctx, name, metav1.GetOptions{})
			if err != nil || len(s.Status.LoadBalancer.Ingress) == 0 {
				return false, err
			}
			got = s.Status.LoadBalancer.Ingress[0].IP
			return true, nil
		})
		return got, services.Delete(ctx, name, metav1.DeleteOptions{})
	})
	eventually(t, "what happened to a Service", true, func(ctx context.Context) (bool, error) {
		events, err := client.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=first,reason=EnsuredLoadBalancer"})
		return err == nil && len(events.Items) > 0, err
	})
}

// TestLoadBalancerOnHost: where the cluster may have real nodes, Services get addresses of this machine and ports that
// are free there, and keep both; a changed port is looked for at the same address.
func TestLoadBalancerOnHost(t *testing.T) {
	addresses := hostaddress.Of(t.TempDir())
	client := runOnHost(t, addresses, "service-lb-controller", ingressController)
	ns := namespace(t, client, "onhost")
	services := client.CoreV1().Services(ns)
	given := func(name string, port int32) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			s, err := services.Get(ctx, name, metav1.GetOptions{})
			if err != nil || len(s.Status.LoadBalancer.Ingress) != 1 || len(s.Status.LoadBalancer.Ingress[0].Ports) != 1 {
				return "", err
			}
			at := s.Status.LoadBalancer.Ingress[0]
			return fmt.Sprint(at.IP, " ", hostaddress.StandsFor(port, at.Ports[0].Port)), nil
		}
	}
	all := addresses.Services()
	for i, name := range []string{"first", "second"} {
		if _, err := services.Create(t.Context(), balanced(name, ""), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		at := all[0]
		if !addresses.Shared() {
			at = all[i]
		}
		eventually(t, "the address of "+name, at.String()+" true", given(name, 80))
	}
	patch := []byte(`{"spec":{"ports":[{"name":"other","port":20081}]}}`)
	if _, err := services.Patch(t.Context(), "first", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the address of first with another port", all[0].String()+" true", given("first", 20081))

	plain, secure := ingress("plain", nil), ingress("secure", nil)
	secure.Spec.TLS = []networkingv1.IngressTLS{{SecretName: "cert"}}
	for want, i := range []*networkingv1.Ingress{plain, secure} {
		i.Spec.IngressClassName = ptr.To(controllers.DefaultIngressClass)
		if _, err := client.NetworkingV1().Ingresses(ns).Create(t.Context(), i, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the address of "+i.Name, fmt.Sprint(addresses.Ingress(), " ", want+1), func(ctx context.Context) (string, error) {
			got, err := client.NetworkingV1().Ingresses(ns).Get(ctx, i.Name, metav1.GetOptions{})
			if err != nil || len(got.Status.LoadBalancer.Ingress) != 1 {
				return "", err
			}
			at := got.Status.LoadBalancer.Ingress[0]
			return fmt.Sprint(at.IP, " ", len(at.Ports)), nil
		})
	}
}
