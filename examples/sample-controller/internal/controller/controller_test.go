package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttest "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	samplev1alpha1 "example.com/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	"example.com/sample-controller/pkg/generated/clientset/versioned/fake"
	"example.com/sample-controller/pkg/generated/informers/externalversions"
)

// shop asks for a Deployment with two replicas.
var shop = &samplev1alpha1.Foo{
	ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop", UID: "1", Generation: 3},
	Spec:       samplev1alpha1.FooSpec{DeploymentName: "shop", Replicas: ptr.To[int32](2)},
}

// begin runs a controller for shop, on the generated fake clientset, whose creations of Deployments are answered by
// create. stop ends it, and returns when it has ended.
func begin(t *testing.T, create func() error) (c *Controller, kube *kubefake.Clientset, stop func()) {
	t.Helper()
	kube, foos := kubefake.NewClientset(), fake.NewSimpleClientset(shop.DeepCopy())
	kube.PrependReactor("create", "deployments", func(clienttest.Action) (bool, runtime.Object, error) {
		err := create()
		return err != nil, nil, err
	})
	c, err := New(Options{
		Kube: kube, Foos: foos,
		KubeInformers: informers.NewSharedInformerFactory(kube, 0),
		FooInformers:  externalversions.NewSharedInformerFactory(foos, 0),
		Recorder:      events.NewFakeRecorder(10),
		Clock:         clocktesting.NewFakePassiveClock(time.Unix(0, 0)),
		Workers:       1,
		Limiter:       workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](time.Nanosecond, time.Nanosecond),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Run(ctx)
	}()
	return c, kube, func() {
		cancel()
		<-ended
	}
}

var errDown = errors.New("the API server is down")

// A pass that fails is repeated as often as is promised.
func TestRetriesAreBounded(t *testing.T) {
	t.Parallel()
	passes := make(chan struct{}, 10*Retries)
	c, _, stop := begin(t, func() error {
		passes <- struct{}{}
		return errDown
	})
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) {
		return len(passes) == 1+Retries && c.queue.NumRequeues(cache.NewObjectName("default", "shop")) == 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if len(passes) != 1+Retries {
		t.Errorf("%d passes, want %d", len(passes), 1+Retries)
	}
}

// A controller that is stopped completes the pass that it is in.
func TestStopWaitsForThePass(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	_, kube, stop := begin(t, func() error {
		close(reached)
		<-release
		return nil
	})
	<-reached
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	select {
	case <-stopped:
		t.Error("the controller has ended within a pass")
	case <-time.After(10 * time.Millisecond):
	}
	close(release)
	<-stopped
	if _, err := kube.AppsV1().Deployments("default").Get(t.Context(), "shop", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// The status follows from the Deployment's, and the condition keeps its time until it changes.
func TestStatus(t *testing.T) {
	t.Parallel()
	begun, later := time.Unix(100, 0), time.Unix(200, 0)
	deployment := func(generation, observed int64, replicas, available int32) *appsv1.Deployment {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: generation},
			Status: appsv1.DeploymentStatus{ObservedGeneration: observed, Replicas: replicas, AvailableReplicas: available}}
	}
	for _, tt := range []struct {
		what       string
		deployment *appsv1.Deployment
		reason     string
	}{
		{"new", deployment(1, 0, 0, 0), samplev1alpha1.ReasonProgressing},
		{"one of two", deployment(1, 1, 2, 1), samplev1alpha1.ReasonProgressing},
		{"two, and one to go", deployment(2, 2, 3, 2), samplev1alpha1.ReasonProgressing},
		{"a change that was not looked at", deployment(2, 1, 2, 2), samplev1alpha1.ReasonProgressing},
		{"two of two", deployment(2, 2, 2, 2), samplev1alpha1.ReasonAvailable},
	} {
		foo := shop.DeepCopy()
		foo.Status = statusOf(foo, tt.deployment, begun)
		again := statusOf(foo, tt.deployment, later)
		ready := again.Conditions[0]
		if ready.Reason != tt.reason || ready.ObservedGeneration != 3 || again.ObservedGeneration != 3 {
			t.Errorf("%s: %+v", tt.what, ready)
		}
		if !ready.LastTransitionTime.Time.Equal(begun) {
			t.Errorf("%s: the condition has changed at %s", tt.what, ready.LastTransitionTime)
		}
	}
}
