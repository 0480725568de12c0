package manager

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"example.com/ingress-manager/internal/controller"
	"github.com/slipway-dev/slipway/operator/clustertest"
)

// The life of an Ingress, by the commands of a user; with no more permissions than the manifests grant, and all of them
// used.
func TestIngressFollowsItsService(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stop := f.start("first")

	f.service("shop", nil, http)
	f.kubectl("annotate", "service", "shop", controller.HostAnnotation+"=shop.example.com")
	made := f.wantHost("shop", "shop.example.com")
	f.wantEvent("shop", controller.ReasonCreated)
	if out := f.kubectl("get", "ingress", "shop"); !strings.Contains(out, "shop.example.com") {
		t.Errorf("kubectl get ingress shop:\n%s", out)
	}
	if owner := metav1.GetControllerOf(made); owner == nil || owner.Kind != "Service" || owner.Name != "shop" || owner.BlockOwnerDeletion != nil {
		t.Errorf("the owner is %v", owner)
	}

	f.setHost("shop", "*.example.org")
	f.wantHost("shop", "*.example.org")
	f.wantEvent("shop", controller.ReasonUpdated)

	f.kubectl("delete", "ingress", "shop")
	if back := f.wantHost("shop", "*.example.org"); back.UID == made.UID {
		t.Error("the Ingress was not deleted")
	}

	f.kubectl("annotate", "service", "shop", controller.HostAnnotation+"-")
	f.wantNone("shop")
	f.wantEvent("shop", controller.ReasonDeleted)

	f.setHost("shop", "")
	f.wantHost("shop", "")
	f.refuseTwice()
	stop()
	f.account.LeastPermissions(t)
}

// refuseTwice has the controller look twice at the same mistake, since something else has changed: the second event is
// a change of the first.
func (f *fixture) refuseTwice() {
	f.Helper()
	f.service("refused", ptr.To(""), http)
	f.wantHost("refused", "")
	f.setHost("refused", "no host")
	f.wantEvent("refused", controller.ReasonInvalidHost)
	f.kubectl("label", "ingress", "refused", "changed=true")
	f.eventually("no second event", func(ctx context.Context) bool {
		list, err := f.user.EventsV1().Events(f.ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + controller.ReasonInvalidHost})
		return err == nil && len(list.Items) == 1 && list.Items[0].Series != nil
	})
}

// kubectl runs kubectl in the test's namespace.
func (f *fixture) kubectl(args ...string) string {
	f.Helper()
	out, err := f.cluster.Kubectl(f, append([]string{"--namespace", f.ns}, args...)...)
	if err != nil {
		f.Fatal(err)
	}
	return out
}

// What others have in an Ingress stays, what the controller decides comes back.
func TestChangedIngress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start("first")
	f.service("shop", ptr.To("shop.example.com"), http)
	f.wantHost("shop", "shop.example.com")
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // the cluster writes the Ingress's address meanwhile
		edited := f.ingress("shop")
		edited.Annotations = map[string]string{"example.com/other": "controller"}
		edited.Spec.TLS = []networkv1.IngressTLS{{Hosts: []string{"shop.example.com"}, SecretName: "shop"}}
		edited.Spec.Rules[0].Host = "elsewhere.example.com"
		_, err := f.user.NetworkingV1().Ingresses(f.ns).Update(t.Context(), edited, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mended := f.wantHost("shop", "shop.example.com")
	if len(mended.Spec.TLS) != 1 || len(mended.Annotations) != 1 {
		t.Errorf("what others set is gone: %v, %v", mended.Annotations, mended.Spec.TLS)
	}

	f.change("shop", func(s *corev1.Service) { s.Spec.Ports[0].Port = 8080 })
	f.eventually("the Ingress leads to the old port", func(context.Context) bool {
		return f.ingress("shop").Spec.Rules[0].HTTP.Paths[0].Backend.Service.Port.Number == 8080
	})
}

// An Ingress that has the name of a Service by chance, or by another's intention, is never changed and never deleted.
func TestForeignIngress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start("first")
	backend := networkv1.IngressBackend{Service: &networkv1.IngressServiceBackend{Name: "other", Port: networkv1.ServiceBackendPort{Number: 80}}}
	foreign := &networkv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: networkv1.IngressSpec{DefaultBackend: &backend}}
	foreign, err := f.user.NetworkingV1().Ingresses(f.ns).Create(t.Context(), foreign, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.service("shop", ptr.To("shop.example.com"), http)
	if note := f.wantEvent("shop", controller.ReasonNotOwned); !strings.Contains(note, "delete or rename it") {
		t.Errorf("the event says %q", note)
	}
	f.unsetHost("shop")
	f.settle()
	// Its address, in the status, is the cluster's.
	if now := f.ingress("shop"); now == nil || now.UID != foreign.UID || now.Generation != foreign.Generation || len(now.OwnerReferences)+len(now.Labels) > 0 {
		t.Errorf("the foreign Ingress was touched: %v", now)
	}

	f.setHost("shop", "shop.example.com")
	if err := f.user.NetworkingV1().Ingresses(f.ns).Delete(t.Context(), "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.wantHost("shop", "shop.example.com")
}

// settle waits until the controller has looked at all that was changed before: its queue is in order, and its
// workers have begun what came earlier when the last Service has its Ingress and another one after it.
func (f *fixture) settle() {
	f.Helper()
	f.service("last", ptr.To(""), http)
	f.wantHost("last", "")
	f.service("very-last", ptr.To(""), http)
	f.wantHost("very-last", "")
}

// What cannot become an Ingress is reported in an event; the Ingress that there is stays.
func TestMistakes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start("first")
	for i, tt := range []struct{ host, reason, note string }{
		{"Shop.example.com", controller.ReasonInvalidHost, "lowercase"},
		{"shop_example", controller.ReasonInvalidHost, "RFC 1123"},
		{"*.", controller.ReasonInvalidHost, "wildcard"},
		{"192.0.2.1", controller.ReasonInvalidHost, "it is an IP address"},
		{strings.Repeat("a.", 127) + "example.com", controller.ReasonInvalidHost, "253"},
	} {
		name := fmt.Sprint("mistake-", i)
		f.service(name, ptr.To("good.example.com"), http)
		good := f.wantHost(name, "good.example.com")
		f.setHost(name, tt.host)
		if note := f.wantEvent(name, tt.reason); !strings.Contains(note, tt.note) {
			t.Errorf("%s: %q", tt.host, note)
		}
		if now := f.ingress(name); now == nil || now.UID != good.UID || now.Generation != good.Generation {
			t.Errorf("%s: the Ingress changed: %v", tt.host, now)
		}
	}
	f.service("no-port", ptr.To(""))
	f.wantEvent("no-port", controller.ReasonNoPort)
	f.service("udp", ptr.To(""), corev1.ServicePort{Port: 53, Protocol: corev1.ProtocolUDP})
	f.wantEvent("udp", controller.ReasonNoPort)
}

// With a domain, all who may write a Service cannot take the hosts of others: those outside of it, and all hosts at
// once, are refused.
func TestDomain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.domain = "apps.example.com"
	f.start("first")
	for i, host := range []string{"", "example.com", "apps.example.com", "*.example.com", "evil-apps.example.com", "apps.example.com.evil.org"} {
		name := fmt.Sprint("refused-", i)
		f.service(name, ptr.To(host), http)
		if note := f.wantEvent(name, controller.ReasonHostNotAllowed); !strings.Contains(note, "below apps.example.com") {
			t.Errorf("%s: %q", host, note)
		}
		if i := f.ingress(name); i != nil {
			t.Errorf("%s has an Ingress: %v", host, i.Spec.Rules)
		}
	}
	for i, host := range []string{"shop.apps.example.com", "*.apps.example.com", "a.b.apps.example.com"} {
		name := fmt.Sprint("taken-", i)
		f.service(name, ptr.To(host), http)
		f.wantHost(name, host)
	}
}

// Nothing is left of a Service that is deleted, and one that comes back under its name has an Ingress of its own.
func TestDeletion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start("first")
	f.service("shop", ptr.To("shop.example.com"), http)
	f.wantHost("shop", "shop.example.com")
	f.deleteService("shop")
	again := f.service("shop", ptr.To("shop.example.com"), http)
	f.eventually("the new Service has no Ingress", func(context.Context) bool {
		i := f.ingress("shop")
		return i != nil && metav1.IsControlledBy(i, again)
	})
	f.deleteService("shop")
	f.cluster.WaitForEmpty(t, f.ns)
}

// Each write may be lost, or take effect without an answer: the end is the same.
func TestInterruptedWrites(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start("first")
	var n int
	f.account.Interrupt(t, func(*testing.T) {
		n++
		name := fmt.Sprint("shop-", n)
		f.service(name, ptr.To("a.example.com"), http)
		f.wantHost(name, "a.example.com")
		f.setHost(name, "b.example.com")
		f.wantHost(name, "b.example.com")
		f.unsetHost(name)
		f.wantNone(name)
	})
}

// A pass over what has not changed writes nothing.
func TestAtRest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stop := f.start("first")
	f.service("with", ptr.To("shop.example.com"), http)
	f.service("without", nil, http)
	f.wantHost("with", "shop.example.com")
	f.wantEvent("with", controller.ReasonCreated)
	stop()

	client := kubernetes.NewForConfigOrDie(f.account.Config())
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(f.ns))
	c, err := controller.New(controller.Options{Client: client, Informers: factory, Recorder: events.NewFakeRecorder(10)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer factory.Shutdown()
	defer cancel()
	factory.StartWithContext(ctx)
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"with", "without", "missing"} {
		f.account.AtRest(t, func(ctx context.Context) error { return c.Sync(ctx, cache.NewObjectName(f.ns, name)) })
	}
}

// Two hundred Services at once: one creation and one event each, and no conflict. Then another manager begins and finds
// nothing to do.
func TestManyServices(t *testing.T) {
	t.Parallel()
	const many = 200
	f := newFixture(t)
	for i := range many {
		f.service(fmt.Sprint("shop-", i), ptr.To(fmt.Sprintf("shop-%d.example.com", i)), http)
	}
	stop := f.start("first")
	f.wantIngresses(many)
	stop()
	f.account.FewWrites(t, many, 1)

	last := func(w clustertest.Request) bool { return strings.HasSuffix(w.Name, "last") || w.Resource == "events" }
	f.account.Restarted(t, func() {
		stop := f.start("second")
		f.settle()
		stop()
	}, last)
}

// wantIngresses waits for a number of Ingresses.
func (f *fixture) wantIngresses(n int) {
	f.Helper()
	f.eventually(fmt.Sprintf("not %d Ingresses", n), func(ctx context.Context) bool {
		list, err := f.user.NetworkingV1().Ingresses(f.ns).List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == n
	})
}

// Of two replicas one works, and the other takes over when it stops.
func TestReplicas(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stop := f.start("first")
	f.wantLeader("first")
	f.start("second")
	f.service("shop", ptr.To("shop.example.com"), http)
	f.wantHost("shop", "shop.example.com")
	stop()
	f.unsetHost("shop")
	f.wantLeader("second")
	f.wantNone("shop")
}

// wantLeader waits until a replica holds the lease.
func (f *fixture) wantLeader(identity string) {
	f.Helper()
	f.eventually(identity+" does not lead", func(ctx context.Context) bool {
		lease, err := f.user.CoordinationV1().Leases(f.account.Namespace).Get(ctx, Name, metav1.GetOptions{})
		return err == nil && ptr.Deref(lease.Spec.HolderIdentity, "") == identity
	})
}
