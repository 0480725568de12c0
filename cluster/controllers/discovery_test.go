package controllers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
)

// answers is a server that says what it is told to say.
type answers struct {
	discovery.ServerResourcesInterfaceWithContext
	lists []*metav1.APIResourceList
	err   error
	asked int
}

func (a *answers) ServerPreferredResourcesWithContext(context.Context) ([]*metav1.APIResourceList, error) {
	a.asked++
	return a.lists, a.err
}

func resources(names ...string) []*metav1.APIResourceList {
	list := &metav1.APIResourceList{GroupVersion: "example.com/v1"}
	for _, n := range names {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: n})
	}
	return []*metav1.APIResourceList{list}
}

func newAnswers(names ...string) (*answers, *changedDiscovery, *int) {
	a, told := &answers{lists: resources(names...)}, new(int)
	return a, &changedDiscovery{
		ServerResourcesInterfaceWithContext: a, changed: make(chan struct{}, 1),
		served: func([]*metav1.APIResourceList, time.Time) { *told++ },
	}, told
}

// TestDiscoveryAnswersWhenThereIsSomethingNew: the same answer is held back until it changes, which is looked for often
// while a change is on its way; after a while it is given all the same.
func TestDiscoveryAnswersWhenThereIsSomethingNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, c, told := newAnswers("widgets")
		ask := func(what string, want time.Duration) {
			t.Helper()
			begin := time.Now()
			if _, err := c.ServerPreferredResourcesWithContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took != want {
				t.Errorf("%s: answered after %v, want %v", what, took, want)
			}
		}
		ask("first", 0)
		time.AfterFunc(time.Second, func() { c.notify(); c.notify() })
		time.AfterFunc(time.Second+60*time.Millisecond, func() { a.lists = resources("widgets", "gadgets") })
		ask("a change that takes a moment", time.Second+3*discoveryPause)
		before := a.asked
		begin := time.Now()
		if _, err := c.ServerPreferredResourcesWithContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took < discoveryRefresh || took > discoveryRefresh+discoveryWindow+discoveryPause {
			t.Errorf("nothing new: answered after %v", took)
		}
		if looks := a.asked - before; time.Duration(looks) > discoveryWindow/discoveryPause+3 {
			t.Errorf("asked %d times although nothing changes", looks)
		}
		a.err = errors.New("a part is missing")
		before = *told
		if _, err := c.ServerPreferredResourcesWithContext(t.Context()); !errors.Is(err, a.err) {
			t.Errorf("an error: %v", err)
		}
		if *told != before {
			t.Error("an answer that is not whole is told as what is served")
		}
	})
}

func TestDiscoveryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c, _ := newAnswers("widgets")
		ctx, cancel := context.WithCancelCause(t.Context())
		if _, err := c.ServerPreferredResourcesWithContext(ctx); err != nil {
			t.Fatal(err)
		}
		cause := errors.New("the test's reason")
		time.AfterFunc(time.Second, func() { cancel(cause) })
		if _, err := c.ServerPreferredResourcesWithContext(ctx); !errors.Is(err, cause) {
			t.Errorf("error %v", err)
		}
	})
}

func TestResourceSet(t *testing.T) {
	lists := append(resources("widgets"), &metav1.APIResourceList{GroupVersion: "too/many/parts", APIResources: []metav1.APIResource{{Name: "lost"}}})
	set := resourceSet(append(lists, &metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods"}}}))
	if len(set) != 2 {
		t.Errorf("%v", set)
	}
	for r := range set {
		if r.String() != "example.com/v1, Resource=widgets" && r.String() != "/v1, Resource=pods" {
			t.Errorf("%v", r)
		}
	}
}
