package controllers

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

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

// TestBorrowedInformerIsGivenBack: who ends the controller that an informer gave him hears nothing more, and others go
// on.
func TestBorrowedInformerIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := source.NewFakeControllerSource()
		shared := cache.NewSharedIndexInformer(objects, &corev1.ConfigMap{}, 0, nil)
		ended := make(chan struct{})
		var running sync.WaitGroup
		running.Go(func() { shared.Run(ended) })
		defer func() {
			close(ended)
			running.Wait()
			objects.Shutdown() // it never gives its lock back: a watch that began now would wait for good
		}()

		var heard [2]atomic.Int32
		var lent [2]cache.SharedIndexInformer
		for i := range heard {
			lent[i] = borrow(genericInformer{shared: shared}).Informer()
			handler := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { heard[i].Add(1) }}
			if _, err := lent[i].AddEventHandlerWithResyncPeriod(handler, 0); err != nil {
				t.Fatal(err)
			}
		}
		stop := make(chan struct{})
		go lent[0].GetController().Run(stop)

		expect := func(first, second int32) {
			t.Helper()
			synctest.Wait()
			if got := [2]int32{heard[0].Load(), heard[1].Load()}; got != [2]int32{first, second} {
				t.Errorf("heard of %d objects, want %d and %d", got, first, second)
			}
		}
		objects.Add(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "before"}})
		expect(1, 1)
		close(stop)
		synctest.Wait()
		objects.Add(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "after"}})
		expect(1, 2)
	})
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
