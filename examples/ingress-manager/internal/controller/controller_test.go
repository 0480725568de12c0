package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttest "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
)

// shop asks for an Ingress.
var shop = &corev1.Service{
	ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop", UID: "1", Annotations: map[string]string{HostAnnotation: ""}},
	Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}},
}

// begin runs a controller for shop whose creations of Ingresses are answered by create. stop ends it, and returns when
// it has ended.
func begin(t *testing.T, create func() error) (c *Controller, client *fake.Clientset, stop func()) {
	t.Helper()
	client = fake.NewClientset(shop.DeepCopy())
	client.PrependReactor("create", "ingresses", func(clienttest.Action) (bool, runtime.Object, error) {
		err := create()
		return err != nil, nil, err
	})
	c, err := New(Options{
		Client:    client,
		Informers: informers.NewSharedInformerFactory(client, 0),
		Recorder:  events.NewFakeRecorder(10),
		Workers:   1,
		Limiter:   workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](time.Nanosecond, time.Nanosecond),
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
	return c, client, func() {
		cancel()
		<-ended
	}
}

func eventually(t *testing.T, met func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) { return met(), nil })
	if err != nil {
		t.Fatal(err)
	}
}

var errDown = errors.New("the API server is down")

// A pass that fails is repeated as often as is promised, and once more when the Service changes.
func TestRetriesAreBounded(t *testing.T) {
	t.Parallel()
	passes := make(chan struct{}, 10*Retries)
	c, client, stop := begin(t, func() error {
		passes <- struct{}{}
		return errDown
	})
	key := cache.NewObjectName("default", "shop")
	eventually(t, func() bool { return len(passes) == 1+Retries && c.queue.NumRequeues(key) == 0 })
	changed := shop.DeepCopy()
	changed.Labels = map[string]string{"changed": "true"}
	if _, err := client.CoreV1().Services("default").Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return len(passes) == 2*(1+Retries) && c.queue.NumRequeues(key) == 0 })
	stop()
	if len(passes) != 2*(1+Retries) {
		t.Errorf("%d passes, want %d", len(passes), 2*(1+Retries))
	}
}

// A controller that is stopped completes the pass that it is in.
func TestStopWaitsForThePass(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	_, client, stop := begin(t, func() error {
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
	if _, err := client.NetworkingV1().Ingresses("default").Get(t.Context(), "shop", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// A controller that is stopped before it knows all objects does nothing.
func TestStopBeforeTheStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client := fake.NewClientset(shop.DeepCopy())
	c, err := New(Options{Client: client, Informers: informers.NewSharedInformerFactory(client, 0), Recorder: events.NewFakeRecorder(1), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	c.Run(ctx)
	for _, a := range client.Actions() {
		if a.GetVerb() == "create" {
			t.Errorf("it made %v", a)
		}
	}
}
