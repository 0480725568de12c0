package controllers_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/hostaddress"
)

// eventsOf are the Events on an object, each as its type, reason, count and message.
func eventsOf(client kubernetes.Interface, namespace, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		events, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
		if err != nil {
			return "", err
		}
		var all []string
		for _, e := range events.Items {
			all = append(all, fmt.Sprint(e.Type, " ", e.Reason, " x", e.Count, ": ", e.Message))
		}
		slices.Sort(all)
		return strings.Join(all, "\n"), nil
	}
}

// touch changes something of an Ingress that says nothing, and waits until that was looked at: the Ingress that is made
// after it has its address.
func touch(t *testing.T, client kubernetes.Interface, namespace, name string, times int) {
	t.Helper()
	ingresses := client.NetworkingV1().Ingresses(namespace)
	for n := range times {
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{"touched":"%d"}}}`, n)
		if _, err := ingresses.Patch(t.Context(), name, "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		probe := ingress(fmt.Sprint(name, "-", n), ptr.To(controllers.DefaultIngressClass))
		if _, err := ingresses.Create(t.Context(), probe, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "an address of "+probe.Name, true, func(ctx context.Context) (bool, error) {
			got, err := addressOf(client, namespace, probe.Name)(ctx)
			return got != "", err
		})
	}
}

// TestIngressClassNotices: an Ingress that is not served says so once, names the classes that are, and leaves other
// controllers' Ingresses alone.
func TestIngressClassNotices(t *testing.T) {
	client := run(t, ingressController)
	ns := namespace(t, client, "classes")
	ingresses, classes := client.NetworkingV1().Ingresses(ns), client.NetworkingV1().IngressClasses()
	other := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: networkingv1.IngressClassSpec{Controller: "example.com/other"}}
	if _, err := classes.Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	hostile := ingress("hostile", nil)
	hostile.Annotations = map[string]string{"kubernetes.io/ingress.class": "\x1b[31m" + strings.Repeat("x", 5000)}
	for _, i := range []*networkingv1.Ingress{ingress("nginx", ptr.To("nginx")), ingress("other", ptr.To("other")), ingress("ours", ptr.To(controllers.DefaultIngressClass)), hostile} {
		if _, err := ingresses.Create(t.Context(), i, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	const here = "The cluster itself serves the class slipway."
	nginx := `Warning IngressClassNotServed x1: There is no IngressClass "nginx". ` + here
	for name, want := range map[string]string{
		"nginx": nginx, "ours": "",
		"other":   `Normal IngressClassNotServed x1: The IngressClass other belongs to the controller "example.com/other", which must run in the cluster. ` + here,
		"hostile": `Warning IngressClassNotServed x1: There is no IngressClass "\x1b[31m` + strings.Repeat("x", 95) + `". ` + here,
	} {
		eventually(t, "the Events of "+name, want, eventsOf(client, ns, name))
	}
	touch(t, client, ns, "nginx", 5)
	eventually(t, "the Events of nginx, looked at again", nginx, eventsOf(client, ns, "nginx"))

	// Served for a while, and not any more: the same state is counted.
	for _, class := range []string{controllers.DefaultIngressClass, "nginx"} {
		patch := fmt.Appendf(nil, `{"spec":{"ingressClassName":%q}}`, class)
		if _, err := ingresses.Patch(t.Context(), "nginx", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "nginx is served: "+class, class != "nginx", func(ctx context.Context) (bool, error) {
			got, err := addressOf(client, ns, "nginx")(ctx)
			return got != "", err
		})
	}
	eventually(t, "the Events of nginx, served meanwhile", strings.Replace(nginx, "x1", "x2", 1), eventsOf(client, ns, "nginx"))
}

// TestIngressTLSNotices: each Secret of an Ingress that is served has an Event which says whether TLS is served with
// it, also once the Secret comes, changes and goes. Nothing of its content is in there.
func TestIngressTLSNotices(t *testing.T) {
	client := runOnHost(t, hostaddress.Of(t.TempDir()), ingressController)
	ns := namespace(t, client, "tls")
	i := ingress("web", ptr.To(controllers.DefaultIngressClass))
	i.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{"a.test", "b.test", "c.test", "d.test"}, SecretName: "cert"}}
	if _, err := client.NetworkingV1().Ingresses(ns).Create(t.Context(), i, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var all []string
	expect := func(what, now string) {
		t.Helper()
		all = append(all, now)
		slices.Sort(all)
		eventually(t, what, strings.Join(all, "\n"), eventsOf(client, ns, "web"))
	}
	not := func(why string) string {
		return "Warning TLSNotServed x1: TLS for a.test, b.test, c.test and 1 more is not served: " + why +
			". Connections with TLS fail until then; requests without TLS are answered."
	}
	expect("without the Secret", not("there is no Secret cert"))
	touch(t, client, ns, "web", 3)
	secrets := client.CoreV1().Secrets(ns)
	cert, key := selfSigned(t)
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "cert"}, Data: map[string][]byte{corev1.TLSCertKey: cert}}
	if _, err := secrets.Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("without a key", not("the Secret cert has no tls.key"))
	for _, step := range []struct {
		what, want string
		key        []byte
	}{
		{"with another key", not("tls.crt and tls.key of the Secret cert are not a certificate and its key"), []byte("-----BEGIN \x1b[31m KEY-----\nAAAA\n-----END \x1b[31m KEY-----\n")},
		{"with its key", "Normal TLSServed x1: TLS for a.test, b.test, c.test and 1 more is served with the certificate of the Secret cert", key},
	} {
		s.Data[corev1.TLSPrivateKeyKey] = step.key
		if _, err := secrets.Update(t.Context(), s, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		expect(step.what, step.want)
	}
	if err := secrets.Delete(t.Context(), "cert", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(e string) bool { return strings.Contains(e, "no Secret") })
	expect("without the Secret again", strings.Replace(not("there is no Secret cert"), "x1", "x2", 1))
}

// selfSigned is a certificate and its key.
func selfSigned(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"a.test"}, NotAfter: time.Now().Add(time.Hour)}
	made, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
}

// TestLoadBalancerFailsOnce: a Service for which there is no address says so by one Event, however often it is tried.
func TestLoadBalancerFailsOnce(t *testing.T) {
	client := run(t, "service-lb-controller")
	ns := namespace(t, client, "full")
	services := client.CoreV1().Services(ns)
	for n := range 254 {
		s := balanced(fmt.Sprint("web-", n), "")
		s.Spec.AllocateLoadBalancerNodePorts = ptr.To(false)
		if _, err := services.Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := services.Create(t.Context(), balanced("late", ""), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "Warning SyncLoadBalancerFailed x1: all addresses for load balancers are in use"
	eventually(t, "the Events of late", want, eventsOf(client, ns, "late"))
	for n := range 3 { // each has it looked at at once
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{"touched":"%d"}}}`, n)
		if _, err := services.Patch(t.Context(), "late", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := services.Delete(t.Context(), "web-7", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the address of late", "203.0.113.8", func(ctx context.Context) (string, error) {
		s, err := services.Get(ctx, "late", metav1.GetOptions{})
		if err != nil || len(s.Status.LoadBalancer.Ingress) == 0 {
			return "", err
		}
		return s.Status.LoadBalancer.Ingress[0].IP, nil
	})
	eventually(t, "the Events of late, which has an address", "Normal EnsuredLoadBalancer x1: Ensured load balancer\n"+want, eventsOf(client, ns, "late"))
}
