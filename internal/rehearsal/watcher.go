package rehearsal

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/internal/ship"
)

// quiet is how long nothing may change in a cluster that is at rest: longer than most operators take to look again at
// what they have just written.
const quiet = 2 * time.Second

// unrestful are kinds that change by the clock, and so say nothing of rest.
var unrestful = append([]schema.GroupKind{{Group: "coordination.k8s.io", Kind: "Lease"}}, unobserved...)

// A watcher follows the changes of all objects of a cluster.
type watcher struct {
	stop func() // ends it

	mu      sync.Mutex
	last    time.Time                     // of a change
	changes map[string][]time.Time        // of objects, by name; recent ones
	waning  map[types.UID]map[string]bool // fields of custom resources that have vanished at least once, or become zero
}

// startWatcher begins to follow a cluster.
func startWatcher(ctx context.Context, cluster *ship.Cluster, kinds []kind) (*watcher, error) {
	served, err := cluster.ServedResources(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	w := &watcher{last: time.Now(), changes: map[string][]time.Time{}, waning: map[types.UID]map[string]bool{}}
	w.stop = func() { cancel(); group.Wait() }
	for _, r := range served {
		kind := schema.GroupKind{Group: r.Group, Kind: r.Kind}
		if slices.Contains(unrestful, kind) {
			continue
		}
		_, own := findKind(kinds, kind)
		group.Go(func() { w.follow(ctx, cluster.Client().Resource(r.GroupVersionResource), own) })
	}
	return w, nil
}

// follow sees the changes of the objects of a resource until ctx ends.
func (w *watcher) follow(ctx context.Context, client dynamic.NamespaceableResourceInterface, own bool) {
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, o)
		},
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: source, ObjectType: &unstructured.Unstructured{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(o any) { w.seen(nil, o, false) },
			UpdateFunc: func(before, o any) {
				if before.(*unstructured.Unstructured).GetResourceVersion() != o.(*unstructured.Unstructured).GetResourceVersion() {
					w.seen(before, o, own)
				}
			},
			DeleteFunc: func(o any) {
				if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
					o = gone.Obj
				}
				w.seen(nil, o, false)
			},
		},
	})
	informer.RunWithContext(ctx)
}

// seen notes a change of an object.
func (w *watcher) seen(before, now any, own bool) {
	o, ok := now.(*unstructured.Unstructured)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Now()
	name := ship.NameOf(o)
	recent := slices.DeleteFunc(w.changes[name], func(t time.Time) bool { return time.Since(t) > 3*quiet })
	w.changes[name] = append(recent, w.last)
	if !own || before == nil {
		return
	}
	is := leavesOf(o.Object)
	for path, value := range leavesOf(before.(*unstructured.Unstructured).Object) {
		if isZero(value) || !isZero(is[path]) {
			continue
		}
		if w.waning[o.GetUID()] == nil {
			w.waning[o.GetUID()] = map[string]bool{}
		}
		w.waning[o.GetUID()][path] = true
	}
}

// wane are the fields of custom resources that have vanished so far, or become zero: they may do so again.
func (w *watcher) wane() map[types.UID]map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := map[types.UID]map[string]bool{}
	for id, fields := range w.waning {
		known[id] = maps.Clone(fields)
	}
	return known
}

// rest waits until nothing has changed for a while, but no longer than patience. It returns what still changes then.
func (w *watcher) rest(ctx context.Context, patience time.Duration) (busy []string) {
	begin := time.Now()
	for {
		w.mu.Lock()
		since := time.Since(later(w.last, begin))
		w.mu.Unlock()
		switch {
		case since >= quiet:
			return nil
		case time.Since(begin) >= patience:
			return w.busy()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(quiet - since):
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// oftenEnough is how many changes in the last seconds make an object one that does not come to rest.
const oftenEnough = 2

// busy are the objects that change again and again.
func (w *watcher) busy() (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, times := range w.changes {
		recent := slices.DeleteFunc(slices.Clone(times), func(t time.Time) bool { return time.Since(t) > 3*quiet })
		if len(recent) >= oftenEnough {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
