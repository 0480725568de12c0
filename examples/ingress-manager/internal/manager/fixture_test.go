package manager

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"example.com/ingress-manager/internal/controller"
	"github.com/slipway-dev/slipway/operator/clustertest"
)

var shared = clustertest.ForPackage(clustertest.Audited())

func TestMain(m *testing.M) { shared.Main(m) }

// A fixture is a namespace, and an account with the permissions of the manifests.
type fixture struct {
	*testing.T
	cluster *clustertest.Cluster
	account *clustertest.Account
	ns      string
	user    kubernetes.Interface // who makes Services; the controller works as the account
	domain  string               // where hosts must be
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := shared.Cluster(t)
	return &fixture{
		T:       t,
		cluster: c,
		account: c.Account(t, "../../manifests/role.yaml", "../../manifests/leader_election_role.yaml"),
		ns:      c.Namespace(t),
		user:    kubernetes.NewForConfigOrDie(c.Config()),
	}
}

// start runs a manager until the test ends or stop is called, which returns when the manager has ended.
func (f *fixture) start(identity string) (stop func()) {
	f.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.Context()))
	ended := make(chan error, 1)
	go func() {
		o := Options{LeaseNamespace: f.account.Namespace, Identity: identity, WatchNamespace: f.ns, Domain: f.domain, Workers: 4}
		ended <- Run(ctx, f.account.Config(), o)
		close(ended)
	}()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			f.Errorf("the manager %s ended: %v", identity, err)
		}
	}
	f.Cleanup(stop)
	return stop
}

// eventually waits until met returns true.
func (f *fixture) eventually(what string, met func(context.Context) bool) {
	f.Helper()
	err := wait.PollUntilContextTimeout(f.Context(), 10*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		return met(ctx), nil
	})
	if err != nil {
		f.Fatalf("%s: %v", what, err)
	}
}

// service creates a Service; the annotation is left out if host is nil.
func (f *fixture) service(name string, host *string, ports ...corev1.ServicePort) *corev1.Service {
	f.Helper()
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Ports: ports}}
	if host != nil {
		s.Annotations = map[string]string{controller.HostAnnotation: *host}
	}
	if len(ports) == 0 {
		s.Spec.ClusterIP = corev1.ClusterIPNone // the only Services without a port
	}
	made, err := f.user.CoreV1().Services(f.ns).Create(f.Context(), s, metav1.CreateOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return made
}

// change changes a Service.
func (f *fixture) change(name string, how func(*corev1.Service)) {
	f.Helper()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		s, err := f.user.CoreV1().Services(f.ns).Get(f.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		how(s)
		_, err = f.user.CoreV1().Services(f.ns).Update(f.Context(), s, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}

// setHost sets the annotation of a Service.
func (f *fixture) setHost(name, host string) {
	f.Helper()
	f.change(name, func(s *corev1.Service) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, controller.HostAnnotation, host) })
}

// unsetHost takes the annotation from a Service.
func (f *fixture) unsetHost(name string) {
	f.Helper()
	f.change(name, func(s *corev1.Service) { delete(s.Annotations, controller.HostAnnotation) })
}

// ingress returns an Ingress, or nil if there is none.
func (f *fixture) ingress(name string) *networkv1.Ingress {
	f.Helper()
	i, err := f.user.NetworkingV1().Ingresses(f.ns).Get(f.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		f.Fatal(err)
	}
	return i
}

// wantHost waits until a Service has an Ingress for a host.
func (f *fixture) wantHost(name, host string) *networkv1.Ingress {
	f.Helper()
	var i *networkv1.Ingress
	f.eventually("no Ingress "+name+" for the host "+host, func(context.Context) bool {
		i = f.ingress(name)
		return i != nil && i.Spec.Rules[0].Host == host
	})
	return i
}

// wantNone waits until there is no Ingress of a name.
func (f *fixture) wantNone(name string) {
	f.Helper()
	f.eventually("the Ingress "+name+" stays", func(context.Context) bool { return f.ingress(name) == nil })
}

// wantEvent waits for an event about a Service, and returns its text.
func (f *fixture) wantEvent(service, reason string) (note string) {
	f.Helper()
	f.eventually("no event "+reason+" about the Service "+service, func(ctx context.Context) bool {
		list, err := f.user.EventsV1().Events(f.ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range list.Items {
			if e.Regarding.Name == service && e.Regarding.Kind == "Service" && e.Reason == reason {
				note = e.Note
				return true
			}
		}
		return false
	})
	return note
}

// deleteService deletes a Service.
func (f *fixture) deleteService(name string) {
	f.Helper()
	if err := f.user.CoreV1().Services(f.ns).Delete(f.Context(), name, metav1.DeleteOptions{}); err != nil {
		f.Fatal(err)
	}
}

var http = corev1.ServicePort{Name: "http", Port: 80}
