package controllers

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// TestFactoryStopsInformers: a CRD that has been gone for long leaves no informer behind,
// one that comes back in time keeps its own.
func TestFactoryStopsInformers(t *testing.T) {
	config := &rest.Config{Host: "127.0.0.1:1"}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	byMetadata, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	f := newFactory(informers.NewSharedInformerFactory(typed, 0), byMetadata)
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	informer, err := f.ForResource(widgets)
	if err != nil {
		t.Fatal(err)
	}
	f.Start(t.Context().Done())

	with := []*metav1.APIResourceList{{GroupVersion: "example.com/v1", APIResources: []metav1.APIResource{{Name: "widgets"}}}}
	now := time.Now()
	at := func(passed time.Duration) time.Time { return now.Add(passed) }
	f.served(nil, at(0))
	f.served(with, at(absence))
	f.served(nil, at(2*absence))
	f.served(nil, at(2*absence+time.Second))
	if len(f.stores()) != 1 {
		t.Fatal("the informer is gone too soon")
	}
	f.served(nil, at(4*absence))
	if len(f.stores()) != 0 {
		t.Error("the informer is still there")
	}
	stopped := func(context.Context) (bool, error) { return informer.Informer().IsStopped(), nil }
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, testlimit.Hang, true, stopped); err != nil {
		t.Fatal("the informer does not stop:", err)
	}
	again, err := f.ForResource(widgets)
	if err != nil {
		t.Fatal(err)
	}
	if again.Informer().IsStopped() {
		t.Error("a stopped informer is handed out")
	}
}
