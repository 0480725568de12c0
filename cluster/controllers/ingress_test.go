package controllers_test

import (
	"context"
	"fmt"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/cluster/controllers"
)

const ingressController = "ingress-address-controller"

// addressOf is what an Ingress shows as its addresses.
func addressOf(client kubernetes.Interface, namespace, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		i, err := client.NetworkingV1().Ingresses(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		text := ""
		for _, a := range i.Status.LoadBalancer.Ingress {
			text += a.IP + ";"
		}
		return text, nil
	}
}

// TestIngressAddresses: Ingresses have an address for as long as their class is one of ours, whichever way they name it
// and whichever comes first.
func TestIngressAddresses(t *testing.T) {
	client := run(t, ingressController)
	ns := namespace(t, client, "ingresses")
	ingresses := client.NetworkingV1().Ingresses(ns)
	class, err := client.NetworkingV1().IngressClasses().Get(t.Context(), controllers.DefaultIngressClass, metav1.GetOptions{})
	if err != nil || class.Spec.Controller != controllers.IngressController {
		t.Fatalf("the default class: %v, %v", class, err)
	}
	ours, foreign, late := controllers.DefaultIngressClass, "foreign", "late"
	other := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: foreign}, Spec: networkingv1.IngressClassSpec{Controller: "example.com/other"}}
	if _, err := client.NetworkingV1().IngressClasses().Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the class of an Ingress that names none", ours, func(ctx context.Context) (string, error) {
		i, err := ingresses.Create(ctx, ingress("probe", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil || i.Spec.IngressClassName == nil {
			return "", err
		}
		return *i.Spec.IngressClassName, nil
	})
	annotated := ingress("annotated", nil)
	annotated.Annotations = map[string]string{"kubernetes.io/ingress.class": ours}
	for _, i := range []*networkingv1.Ingress{ingress("default", nil), ingress("ours", &ours), ingress("foreign", &foreign), ingress("late", &late), annotated} {
		if _, err := ingresses.Create(t.Context(), i, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	const address = "198.51.100.1;"
	for _, name := range []string{"default", "ours", "annotated"} {
		eventually(t, "the address of "+name, address, addressOf(client, ns, name))
	}
	for _, name := range []string{"foreign", "late"} { // the one worker has looked at them before the last
		if got, err := addressOf(client, ns, name)(t.Context()); got != "" || err != nil {
			t.Errorf("%s has the address %q, %v", name, got, err)
		}
	}
	comes := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: late}, Spec: networkingv1.IngressClassSpec{Controller: controllers.IngressController}}
	if _, err := client.NetworkingV1().IngressClasses().Create(t.Context(), comes, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the address of one whose class came later", address, addressOf(client, ns, "late"))
	patch := fmt.Appendf(nil, `{"spec":{"ingressClassName":%q}}`, foreign)
	if _, err := ingresses.Patch(t.Context(), "ours", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the address of one that changed to a foreign class", "", addressOf(client, ns, "ours"))
	if err := client.NetworkingV1().IngressClasses().Delete(t.Context(), late, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the address of one whose class has gone", "", addressOf(client, ns, "late"))
}
