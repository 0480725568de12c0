package manager

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	samplev1alpha1 "example.com/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	"example.com/sample-controller/pkg/generated/clientset/versioned"
	"example.com/sample-controller/pkg/generated/clientset/versioned/scheme"
	"github.com/slipway-dev/slipway/operator/clustertest"
)

var shared = clustertest.ForPackage(clustertest.Audited(), clustertest.Scheme(scheme.Scheme), clustertest.CRDs("../../manifests/crd"))

func TestMain(m *testing.M) { shared.Main(m) }

// A fixture is a namespace, and an account with the permissions of the manifests.
type fixture struct {
	*testing.T
	cluster *clustertest.Cluster
	account *clustertest.Account
	ns      string

	// The clients of who makes Foos; the controller works as the account.
	kube kubernetes.Interface
	foos versioned.Interface
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := shared.Cluster(t)
	return &fixture{
		T:       t,
		cluster: c,
		account: c.Account(t, "../../manifests/role.yaml", "../../manifests/leader_election_role.yaml"),
		ns:      c.Namespace(t),
		kube:    kubernetes.NewForConfigOrDie(c.Config()),
		foos:    versioned.NewForConfigOrDie(c.Config()),
	}
}

// start runs a manager until the test ends or stop is called, which returns when the manager has ended.
func (f *fixture) start(identity string) (stop func()) {
	f.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.Context()))
	ended := make(chan error, 1)
	go func() {
		o := Options{LeaseNamespace: f.account.Namespace, Identity: identity, WatchNamespace: f.ns, Image: "nginx:stable", Workers: 4}
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

// create creates a Foo.
func (f *fixture) create(name, deployment string, replicas int32) {
	f.Helper()
	foo := &samplev1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: samplev1alpha1.FooSpec{DeploymentName: deployment, Replicas: ptr.To(replicas)}}
	if _, err := f.foos.SamplecontrollerV1alpha1().Foos(f.ns).Create(f.Context(), foo, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
}

// change changes the spec of a Foo.
func (f *fixture) change(name string, how func(*samplev1alpha1.FooSpec)) {
	f.Helper()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		foo, err := f.foos.SamplecontrollerV1alpha1().Foos(f.ns).Get(f.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		how(&foo.Spec)
		_, err = f.foos.SamplecontrollerV1alpha1().Foos(f.ns).Update(f.Context(), foo, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}

// rename gives a Foo another Deployment.
func (f *fixture) rename(name, deployment string) {
	f.Helper()
	f.change(name, func(s *samplev1alpha1.FooSpec) { s.DeploymentName = deployment })
}

// foo returns a Foo.
func (f *fixture) foo(name string) *samplev1alpha1.Foo {
	f.Helper()
	foo, err := f.foos.SamplecontrollerV1alpha1().Foos(f.ns).Get(f.Context(), name, metav1.GetOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return foo
}

// wantReason waits until the condition of a Foo has a reason, for the spec as it is now.
func (f *fixture) wantReason(name, reason string) *samplev1alpha1.Foo {
	f.Helper()
	var foo *samplev1alpha1.Foo
	f.eventually(name+" is not "+reason, func(context.Context) bool {
		foo = f.foo(name)
		c := foo.Status.Conditions
		return len(c) == 1 && c[0].Reason == reason && c[0].ObservedGeneration == foo.Generation && foo.Status.ObservedGeneration == foo.Generation
	})
	return foo
}

// wantAvailable waits until a Foo has all its replicas, and checks its Deployment.
func (f *fixture) wantAvailable(name, deployment string, replicas int32) {
	f.Helper()
	foo := f.wantReason(name, samplev1alpha1.ReasonAvailable)
	if s := foo.Status; s.AvailableReplicas != replicas || s.Replicas != replicas {
		f.Errorf("%s has %d replicas, %d of them available, want %d", name, s.Replicas, s.AvailableReplicas, replicas)
	}
	if d := f.deployment(deployment); d == nil || *d.Spec.Replicas != replicas || !metav1.IsControlledBy(d, foo) {
		f.Errorf("the Deployment of %s is %v", name, d)
	}
}

// deployment returns a Deployment, or nil if there is none.
func (f *fixture) deployment(name string) *appsv1.Deployment {
	f.Helper()
	d, err := f.kube.AppsV1().Deployments(f.ns).Get(f.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		f.Fatal(err)
	}
	return d
}

// deleteFoo deletes a Foo.
func (f *fixture) deleteFoo(name string) {
	f.Helper()
	if err := f.foos.SamplecontrollerV1alpha1().Foos(f.ns).Delete(f.Context(), name, metav1.DeleteOptions{}); err != nil {
		f.Fatal(err)
	}
}

// deleteDeployment deletes a Deployment with its pods.
func (f *fixture) deleteDeployment(name string) {
	f.Helper()
	how := metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	if err := f.kube.AppsV1().Deployments(f.ns).Delete(f.Context(), name, how); err != nil {
		f.Fatal(err)
	}
}

// wantEvent waits for an event about a Foo, and returns its text.
func (f *fixture) wantEvent(foo, reason string) (note string) {
	f.Helper()
	f.eventually("no event "+reason+" about the Foo "+foo, func(ctx context.Context) bool {
		list, err := f.kube.EventsV1().Events(f.ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + reason})
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range list.Items {
			if e.Regarding.Name == foo && e.Regarding.Kind == "Foo" {
				note = e.Note
				return true
			}
		}
		return false
	})
	return note
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
