package dashboard

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/ship"
)

// Object is what the page shows of an object at a glance.
type Object struct {
	UID       string        `json:"uid"`
	Kind      string        `json:"kind"`
	Resource  string        `json:"resource"` // with its group, such as deployments.apps
	Namespace string        `json:"namespace,omitempty"`
	Name      string        `json:"name"`
	Owners    []string      `json:"owners,omitempty"` // UIDs
	State     explain.State `json:"state"`
	Text      string        `json:"text,omitempty"`
	Created   time.Time     `json:"created"`
}

// objects are those of a cluster, as they change.
type objects struct {
	cluster *ship.Cluster
	life    context.Context
	once    sync.Once
	running sync.WaitGroup
	again   chan struct{} // the kinds may have changed

	mu      sync.Mutex
	all     map[string]Object // by UID
	log     []string          // UIDs that have changed, the newest last
	dropped int               // of the log's beginning
	unknown []string          // what cannot be read, and why
	kinds   map[schema.GroupVersionResource]*watched
	synced  bool
	changed chan struct{} // closed at the next change
}

// watched is a kind whose objects are watched.
type watched struct {
	end    context.CancelFunc
	synced func() bool
	failed bool
}

func newObjects(cluster *ship.Cluster) *objects {
	return &objects{
		cluster: cluster, all: map[string]Object{}, kinds: map[schema.GroupVersionResource]*watched{}, changed: make(chan struct{}), again: make(chan struct{}, 1),
	}
}

// begin begins to watch the cluster, once.
func (o *objects) begin() {
	o.once.Do(func() { o.running.Go(func() { o.run(o.life) }) })
}

func (o *objects) wait() { o.running.Wait() }

const (
	// settling is how long it takes the API server to serve what a new CRD defines, about.
	settling = time.Second
	// asking is how often it is asked what it serves while that failed, and whether all objects have come.
	asking = 100 * time.Millisecond
	// rediscovery is how often it is asked what it serves in any case.
	rediscovery = time.Minute
)

// run watches all kinds, also those that come.
func (o *objects) run(ctx context.Context) {
	for {
		served, err := o.cluster.Served(ctx)
		if err != nil {
			o.cannot("what the cluster serves: " + err.Error())
		} else {
			o.watchAll(ctx, served)
		}
		wait := time.After(rediscovery)
		for asked := false; !asked; {
			select {
			case <-ctx.Done():
				return
			case <-o.again:
				wait = time.After(settling)
			case <-wait:
				asked = true
			case <-time.After(asking):
				o.settle()
			}
		}
	}
}

// settle notes once all objects have come.
func (o *objects) settle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.synced || len(o.kinds) == 0 {
		return
	}
	for _, w := range o.kinds {
		if !w.failed && !w.synced() {
			return
		}
	}
	o.synced = true
	o.wake()
}

// wake needs o.mu.
func (o *objects) wake() {
	close(o.changed)
	o.changed = make(chan struct{})
}

// watchAll watches the kinds that are new, and forgets those that are gone.
func (o *objects) watchAll(ctx context.Context, served []ship.Served) {
	o.mu.Lock()
	defer o.mu.Unlock()
	is := map[schema.GroupVersionResource]bool{}
	for _, r := range served {
		if !r.Collected || !explain.IsNotable(r.GroupResource()) {
			continue
		}
		is[r.GroupVersionResource] = true
		if o.kinds[r.GroupVersionResource] == nil {
			o.kinds[r.GroupVersionResource] = o.watch(ctx, r)
		}
	}
	for r, w := range o.kinds {
		if !is[r] {
			w.end()
			delete(o.kinds, r)
			for uid, object := range o.all {
				if object.Resource == r.GroupResource().String() {
					delete(o.all, uid)
					o.note(uid)
				}
			}
		}
	}
}

// seen is what is kept of an object.
type seen struct {
	metav1.ObjectMeta
	object Object
}

// watch needs o.mu, which its handlers take.
func (o *objects) watch(ctx context.Context, r ship.Served) *watched {
	ctx, end := context.WithCancel(ctx)
	client := o.cluster.Reader().Resource(r.GroupVersionResource)
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, q metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, q) },
		WatchFuncWithContext: func(ctx context.Context, q metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, q)
		},
	}, &unstructured.Unstructured{}, 0, nil)
	w := &watched{end: end, synced: informer.HasSynced}
	_ = informer.SetTransform(func(of any) (any, error) { return o.glance(r, of), nil })                                             // it has not started
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { o.unreadable(w, r, err) }) // as before
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(of any) { o.put(r, of) },
		UpdateFunc: func(before, of any) {
			o.put(r, of)
			if old, is := before.(*seen); is && of.(*seen).UID != old.UID { // deleted and created again
				o.drop(r, old)
			}
		},
		DeleteFunc: func(of any) {
			if last, is := of.(cache.DeletedFinalStateUnknown); is {
				of = last.Obj
			}
			o.drop(r, of)
		},
	})
	o.running.Go(func() { informer.RunWithContext(ctx) })
	return w
}

// glance is what is kept of an object.
func (o *objects) glance(r ship.Served, of any) any {
	object, is := of.(*unstructured.Unstructured)
	if !is {
		return of // it was before
	}
	kept := &seen{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion()}}
	state, text := explain.Glance(object, time.Now())
	kept.object = Object{
		UID: string(object.GetUID()), Kind: r.Kind, Resource: r.GroupResource().String(), Namespace: object.GetNamespace(), Name: object.GetName(),
		State: state, Text: text, Created: object.GetCreationTimestamp().UTC(),
	}
	for _, owner := range object.GetOwnerReferences() {
		kept.object.Owners = append(kept.object.Owners, string(owner.UID))
	}
	return kept
}

// defines are the resources whose objects change what is served.
var defines = map[schema.GroupResource]bool{
	{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}: true, {Group: "apiregistration.k8s.io", Resource: "apiservices"}: true,
}

func (o *objects) put(r ship.Served, of any) {
	kept, is := of.(*seen)
	if !is || kept.object.UID == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all[kept.object.UID] = kept.object
	o.note(kept.object.UID)
	o.served(r)
}

func (o *objects) drop(r ship.Served, of any) {
	kept, is := of.(*seen)
	if !is {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, kept.object.UID)
	o.note(kept.object.UID)
	o.served(r)
}

// served has it asked again what the cluster serves.
func (o *objects) served(r ship.Served) {
	if defines[r.GroupResource()] {
		select {
		case o.again <- struct{}{}:
		default:
		}
	}
}

// shortLog is the least size at which the log is shortened.
const shortLog = 10_000

// note needs o.mu.
func (o *objects) note(uid string) {
	if o.log = append(o.log, uid); len(o.log) > max(shortLog, 4*len(o.all)) {
		half := len(o.log) / 2
		o.log = append([]string{}, o.log[half:]...)
		o.dropped += half
	}
	o.wake()
}

// unreadable notes why a kind cannot be read.
func (o *objects) unreadable(w *watched, r ship.Served, err error) {
	if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
		return // it comes again: a watch ends now and then
	}
	o.mu.Lock()
	w.failed = true
	o.mu.Unlock()
	if apierrors.IsForbidden(err) {
		o.cannot(r.GroupResource().String() + ": the user of the kubeconfig may not read it")
	}
}

// mostUnknown bounds what is said of what cannot be read.
const mostUnknown = 100

func (o *objects) cannot(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, known := range o.unknown {
		if known == text {
			return
		}
	}
	if len(o.unknown) < mostUnknown {
		o.unknown = append(o.unknown, text)
		o.wake()
	}
}

// view is how far one browser knows the objects.
type view struct {
	of      *objects
	at      int // in the log
	began   bool
	unknown int
	synced  bool
}

func (o *objects) view() *view { return &view{of: o} }

// next returns what is new since the last call, and what is closed when there is more. It is not ok if the view has
// fallen behind.
func (v *view) next() (lines []objectLine, more <-chan struct{}, ok bool) {
	o := v.of
	o.mu.Lock()
	defer o.mu.Unlock()
	var changed []Object
	var gone []string
	if !v.began {
		for _, object := range o.all {
			changed = append(changed, object)
		}
		v.began = true
	} else {
		if v.at < o.dropped {
			return nil, nil, false
		}
		known := map[string]bool{}
		for _, uid := range o.log[v.at-o.dropped:] {
			if object, is := o.all[uid]; is && !known[uid] {
				changed = append(changed, object)
			} else if !is && !known[uid] {
				gone = append(gone, uid)
			}
			known[uid] = true
		}
	}
	v.at = o.dropped + len(o.log)
	for len(changed) > 0 {
		n := min(len(changed), mostInLine)
		lines, changed = append(lines, objectLine{Objects: changed[:n]}), changed[n:]
	}
	if len(gone) > 0 {
		lines = append(lines, objectLine{Gone: gone})
	}
	for ; v.unknown < len(o.unknown); v.unknown++ {
		lines = append(lines, objectLine{Unknown: o.unknown[v.unknown]})
	}
	if o.synced && !v.synced {
		v.synced = true
		lines = append(lines, objectLine{Synced: true})
	}
	return lines, o.changed, true
}
