package controllers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"
)

type genericInformer struct {
	informers.GenericInformer
	shared cache.SharedIndexInformer
}

func (g genericInformer) Informer() cache.SharedIndexInformer { return g.shared }

// TestBorrowedInformerIsGivenBack: who ends the controller that an informer gave him hears nothing more, and others go on.
func TestBorrowedInformerIsGivenBack(t *testing.T) {
	objects := source.NewFakeControllerSource()
	shared := cache.NewSharedIndexInformer(objects, &corev1.ConfigMap{}, 0, nil)
	go shared.Run(t.Context().Done())

	heard := [2]chan string{make(chan string, 1), make(chan string, 1)}
	stop, ended := make(chan struct{}), make(chan struct{})
	for i, names := range heard {
		informer := borrow(genericInformer{shared: shared}).Informer()
		handler := cache.ResourceEventHandlerFuncs{AddFunc: func(o any) { names <- o.(*corev1.ConfigMap).Name }}
		if _, err := informer.AddEventHandlerWithResyncPeriod(handler, 0); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			go func() {
				informer.GetController().Run(stop)
				close(ended)
			}()
		}
	}
	add := func(name string) {
		objects.Add(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}

	add("before")
	for i, names := range heard {
		if name := <-names; name != "before" {
			t.Errorf("%d heard of %q", i, name)
		}
	}
	close(stop)
	<-ended
	add("after")
	if name := <-heard[1]; name != "after" {
		t.Errorf("the other heard of %q", name)
	}
	select {
	case name := <-heard[0]:
		t.Errorf("heard of %q after it was given back", name)
	default:
	}
}

// TestFactoryLends: each who asks for a resource gets the informer for himself to give back.
func TestFactoryLends(t *testing.T) {
	f := newFactory(informers.NewSharedInformerFactory(nil, 0), nil)
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	var lent [2]cache.SharedIndexInformer
	for i := range lent {
		informer, err := f.ForResource(widgets)
		if err != nil {
			t.Fatal(err)
		}
		lent[i] = informer.Informer()
	}
	first, second := lent[0].(*borrowedInformer), lent[1].(*borrowedInformer)
	if first == second || first.SharedIndexInformer != second.SharedIndexInformer {
		t.Error("two borrowers must have one informer, each with handlers of his own")
	}
}
