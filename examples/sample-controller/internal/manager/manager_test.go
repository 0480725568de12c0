package manager

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"example.com/sample-controller/internal/controller"
	samplev1alpha1 "example.com/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	"example.com/sample-controller/pkg/generated/clientset/versioned"
	"example.com/sample-controller/pkg/generated/informers/externalversions"
	"github.com/slipway-dev/slipway/operator/clustertest"
)

// The life of a Foo, with no more permissions than the manifests grant. TestInterruptedWrites shows that each of them
// is needed.
func TestFoo(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stop := f.start("first")
	f.create("shop", "shop", 2)
	f.wantAvailable("shop", "shop", 2)
	f.wantEvent("shop", controller.ReasonCreated)

	f.kubectl("scale", "foo", "shop", "--replicas", "3")
	f.wantAvailable("shop", "shop", 3)
	f.wantEvent("shop", controller.ReasonUpdated)

	f.rename("shop", "store")
	f.wantAvailable("shop", "store", 3)
	f.eventually("the former Deployment stays", func(context.Context) bool { return f.deployment("shop") == nil })
	f.wantEvent("shop", controller.ReasonDeleted)

	f.deleteDeployment("store")
	f.eventually("the Deployment is not made again", func(context.Context) bool {
		d := f.deployment("store")
		return d != nil && d.DeletionTimestamp == nil
	})
	f.wantAvailable("shop", "store", 3)
	f.deleteFoo("shop")
	f.cluster.WaitForEmpty(t, f.ns)
	stop()
}

// What kubectl shows of a Foo.
func TestKubectl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start("first")
	f.create("shop", "store", 2)
	f.wantAvailable("shop", "store", 2)
	lines := strings.Split(f.kubectl("get", "foos"), "\n")
	for i, want := range []string{"NAME DEPLOYMENT DESIRED AVAILABLE READY AGE", "shop store 2 2 Available "} {
		if got := strings.Join(strings.Fields(lines[i]), " "); !strings.HasPrefix(got, strings.TrimSpace(want)) {
			t.Errorf("kubectl get foos: %q, want %q", got, want)
		}
	}
	if out := f.kubectl("explain", "foo.spec.deploymentName"); !strings.Contains(out, "DeploymentName is the name of the Deployment") {
		t.Errorf("kubectl explain:\n%s", out)
	}
}

// The API server refuses what no Deployment could be.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, tt := range []struct {
		what, where string
		spec        samplev1alpha1.FooSpec
	}{
		{"no name", "spec.deploymentName", samplev1alpha1.FooSpec{}},
		{"no DNS label", "spec.deploymentName", samplev1alpha1.FooSpec{DeploymentName: "My_Shop"}},
		{"a long name", "spec.deploymentName", samplev1alpha1.FooSpec{DeploymentName: strings.Repeat("a", 64)}},
		{"fewer than none", "spec.replicas", samplev1alpha1.FooSpec{DeploymentName: "a", Replicas: ptr.To[int32](-1)}},
		{"too many", "spec.replicas", samplev1alpha1.FooSpec{DeploymentName: "a", Replicas: ptr.To[int32](1001)}},
	} {
		foo := &samplev1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "refused"}, Spec: tt.spec}
		_, err := f.cluster.Kubectl(t, "create", "--filename", f.cluster.Manifest(t, foo))
		if err == nil || !strings.Contains(err.Error(), `The Foo "refused" is invalid`) || !strings.Contains(err.Error(), tt.where) {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
	foo := &samplev1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: samplev1alpha1.FooSpec{DeploymentName: "a"}}
	foo, err := f.foos.SamplecontrollerV1alpha1().Foos(f.ns).Create(t.Context(), foo, metav1.CreateOptions{})
	if err != nil || *foo.Spec.Replicas != 1 {
		t.Errorf("the default: %v, %v", foo.Spec.Replicas, err)
	}
}

// A Deployment that is not the Foo's is refused, and left alone; when it goes, the Foo gets its own.
func TestForeignDeployment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start("first")
	labels := map[string]string{"app": "foreign"}
	foreign := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](0),
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "nginx"}}}},
	}}
	if _, err := f.kube.AppsV1().Deployments(f.ns).Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.create("shop", "shop", 1)
	f.wantReason("shop", samplev1alpha1.ReasonNotOwned)
	if note := f.wantEvent("shop", samplev1alpha1.ReasonNotOwned); !strings.Contains(note, "delete it, or give another deploymentName") {
		t.Errorf("the event says %q", note)
	}
	if d := f.deployment("shop"); *d.Spec.Replicas != 0 || len(d.OwnerReferences) > 0 {
		t.Errorf("the foreign Deployment was touched: %v", d)
	}
	f.atRest("shop")

	f.deleteDeployment("shop")
	f.wantAvailable("shop", "shop", 1)

	f.create("second", "shop", 1)
	f.wantReason("second", samplev1alpha1.ReasonNotOwned)
	f.rename("shop", "elsewhere")
	f.wantAvailable("shop", "elsewhere", 1)
	f.wantAvailable("second", "shop", 1)
}

// What the controller decides comes back when it is changed, and what others add stays.
func TestChangedDeployment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start("first")
	f.create("shop", "shop", 1)
	f.wantAvailable("shop", "shop", 1)
	f.kubectl("annotate", "deployment", "shop", "example.com/other=tool")
	f.kubectl("scale", "deployment", "shop", "--replicas", "4")
	f.eventually("the size does not come back", func(context.Context) bool { return *f.deployment("shop").Spec.Replicas == 1 })
	f.wantAvailable("shop", "shop", 1)
	if f.deployment("shop").Annotations["example.com/other"] != "tool" {
		t.Error("what another tool added is gone")
	}
}

// Each write may be lost, or take effect without an answer: the end is the same. All that the account may do is done in
// between; a change of an event, for instance, when a refusal is found again, since its status could not be written.
func TestInterruptedWrites(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start("first")
	var n int
	f.account.Interrupt(t, func(*testing.T) {
		n++
		name := fmt.Sprint("shop-", n)
		f.create(name, name, 0)
		f.wantAvailable(name, name, 0)
		f.rename(name, "new-"+name)
		f.wantAvailable(name, "new-"+name, 0)
		f.eventually("the former Deployment stays", func(context.Context) bool { return f.deployment(name) == nil })
	})
	f.account.Interrupt(t, func(*testing.T) {
		n++
		name := fmt.Sprint("shop-", n)
		f.create(name, "new-shop-1", 0)
		f.wantReason(name, samplev1alpha1.ReasonNotOwned)
	})
	f.change("shop-1", func(s *samplev1alpha1.FooSpec) { s.Replicas = ptr.To[int32](1) })
	f.wantAvailable("shop-1", "new-shop-1", 1)
	f.eventually("there are permissions that are not needed", func(context.Context) bool { // events are written later than the status
		return len(f.account.Unused(t)) == 0
	})
	f.account.LeastPermissions(t)
}

// A pass over what has not changed writes nothing.
func TestAtRest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stop := f.start("first")
	f.create("shop", "shop", 2)
	f.wantAvailable("shop", "shop", 2)
	f.wantEvent("shop", controller.ReasonCreated)
	stop()
	f.atRest("shop")
	f.atRest("missing")
}

// atRest makes one more pass over a Foo, with a controller of its own.
func (f *fixture) atRest(name string) {
	f.Helper()
	kube, foos := kubernetes.NewForConfigOrDie(f.account.Config()), versioned.NewForConfigOrDie(f.account.Config())
	o := controller.Options{
		Kube: kube, Foos: foos, Recorder: events.NewFakeRecorder(10), Clock: clocktesting.NewFakePassiveClock(time.Now()), Image: "nginx:stable",
		KubeInformers: informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace(f.ns)),
		FooInformers:  externalversions.NewSharedInformerFactoryWithOptions(foos, 0, externalversions.WithNamespace(f.ns)),
	}
	c, err := controller.New(o)
	if err != nil {
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(f.Context())
	defer o.KubeInformers.Shutdown()
	defer o.FooInformers.Shutdown()
	defer cancel()
	if !c.Listen(ctx) {
		f.Fatal(ctx.Err())
	}
	f.account.AtRest(f, func(ctx context.Context) error { return c.Sync(ctx, cache.NewObjectName(f.ns, name)) })
}

// Two hundred Foos at once, without pods: at most one creation and five status writes each. Then another manager
// begins and finds nothing to do. With -short they are fifty.
func TestManyFoos(t *testing.T) {
	t.Parallel()
	many, each := 200, 6
	if testing.Short() {
		many = 50 // long: make test-long-examples
	}
	f := newFixture(t)
	for i := range many {
		f.create(fmt.Sprint("shop-", i), fmt.Sprint("shop-", i), 0)
	}
	stop := f.start("first")
	f.wantAllAvailable(many)
	stop()
	f.account.FewWrites(t, many, each)

	last := func(w clustertest.Request) bool { return strings.HasSuffix(w.Name, "last") || w.Resource == "events" }
	f.account.Restarted(t, func() {
		stop := f.start("second")
		f.create("last", "last", 0)
		f.wantAvailable("last", "last", 0)
		f.create("very-last", "very-last", 0)
		f.wantAvailable("very-last", "very-last", 0)
		stop()
	}, last)
}

// wantAllAvailable waits until a number of Foos are. It asks rarely, as the answer is long.
func (f *fixture) wantAllAvailable(n int) {
	f.Helper()
	err := wait.PollUntilContextTimeout(f.Context(), 250*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		list, err := f.foos.SamplecontrollerV1alpha1().Foos(f.ns).List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == n && !slices.ContainsFunc(list.Items, func(foo samplev1alpha1.Foo) bool {
			c := foo.Status.Conditions
			return len(c) == 0 || c[0].Reason != samplev1alpha1.ReasonAvailable
		}), err
	})
	if err != nil {
		f.Fatalf("not %d Foos are available: %v", n, err)
	}
}
