package dashboard

import (
	"context"
	"errors"
	"io"
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

const (
	// settling is how long it takes the API server to serve what a new CRD defines, about; also the pause after a
	// failure.
	settling = time.Second
	// asking is how often it is looked whether all objects have come.
	asking = 100 * time.Millisecond
	// rediscovery is how often it is asked what the cluster serves in any case.
	rediscovery = time.Minute
	// rejudging is how often objects in progress are looked at again: time alone may show that they make none.
	rejudging = 15 * time.Second
	// mostRejudged bounds how many of them.
	mostRejudged = 100
)

// discovery is what cannot be read if it is not known what the cluster serves.
const discovery = "what the cluster serves"

// run watches all kinds, also those that come, until ctx ends.
func (o *objects) run(ctx context.Context) {
	rejudge := time.NewTicker(rejudging)
	defer rejudge.Stop()
	for {
		wait := rediscovery
		if served, err := o.cluster.Served(ctx); err != nil {
			o.cannot(discovery, err.Error())
			wait = settling
		} else {
			o.can(discovery)
			o.watchAll(ctx, served)
		}
		next, again := time.After(wait), o.again
		for next != nil {
			var look <-chan time.Time
			if !o.settle() {
				look = time.After(asking)
			}
			select {
			case <-ctx.Done():
				return
			case <-again:
				next, again = time.After(settling), nil // those that come meanwhile wait for the same question
			case <-rejudge.C:
				o.rejudge(ctx)
			case <-look:
			case <-next:
				next = nil
			}
		}
	}
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
			delete(o.unknown, r.GroupResource().String())
			for uid, object := range o.all {
				if object.Resource == r.GroupResource().String() {
					delete(o.all, uid)
					o.note(uid)
				}
			}
		}
	}
}

// watched is a kind whose objects are watched.
type watched struct {
	ship.Served
	end    context.CancelFunc
	synced func() bool // its objects have come
	failed bool        // they cannot be read, for now
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
	w := &watched{Served: r, end: end}
	_ = informer.SetTransform(func(of any) (any, error) { return glance(r, of), nil })                                            // it has not started
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { o.unreadable(w, err) }) // as before
	handled, _ := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(of any) { o.put(w, of) },
		UpdateFunc: func(before, of any) {
			o.put(w, of)
			if old, is := before.(*seen); is && of.(*seen).UID != old.UID { // deleted and created again
				o.drop(w, old)
			}
		},
		DeleteFunc: func(of any) {
			if last, is := of.(cache.DeletedFinalStateUnknown); is {
				of = last.Obj
			}
			o.drop(w, of)
		},
	})
	w.synced = handled.HasSynced
	o.running.Go(func() { informer.RunWithContext(ctx) })
	return w
}

const (
	// mostOwners bounds the owners of an object, and longestUID those of which are kept.
	mostOwners = 16
	longestUID = 64
)

// glance is what is kept of an object.
func glance(r ship.Served, of any) any {
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
		if len(kept.object.Owners) < mostOwners && len(owner.UID) <= longestUID {
			kept.object.Owners = append(kept.object.Owners, string(owner.UID))
		}
	}
	return kept
}

// defines are the resources whose objects change what is served.
var defines = map[schema.GroupResource]bool{
	{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}: true, {Group: "apiregistration.k8s.io", Resource: "apiservices"}: true,
}

func (o *objects) put(w *watched, of any) {
	kept, is := of.(*seen)
	if !is || kept.object.UID == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kinds[w.GroupVersionResource] != w { // what was under way when its kind went
		return
	}
	o.all[kept.object.UID] = kept.object
	o.note(kept.object.UID)
	o.served(w)
}

func (o *objects) drop(w *watched, of any) {
	kept, is := of.(*seen)
	if !is {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kinds[w.GroupVersionResource] != w {
		return
	}
	delete(o.all, kept.object.UID)
	o.note(kept.object.UID)
	o.served(w)
}

// served has it asked again what the cluster serves.
func (o *objects) served(w *watched) {
	if defines[w.GroupResource()] {
		select {
		case o.again <- struct{}{}:
		default:
		}
	}
}

// unreadable notes why the objects of a kind cannot be read. A watch ends now and then.
func (o *objects) unreadable(w *watched, err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	text := err.Error()
	if apierrors.IsForbidden(err) {
		text = "the user of the kubeconfig may not list and watch it everywhere"
	}
	o.mu.Lock()
	w.failed = true
	o.mu.Unlock()
	o.cannot(w.GroupResource().String(), text)
}

// rejudge looks at objects in progress again.
func (o *objects) rejudge(ctx context.Context) {
	o.mu.Lock()
	var again []Object
	kinds := map[string]*watched{}
	for _, w := range o.kinds {
		kinds[w.GroupResource().String()] = w
	}
	for _, object := range o.all {
		if object.State == explain.InProgress && len(again) < mostRejudged {
			again = append(again, object)
		}
	}
	o.mu.Unlock()
	for _, object := range again {
		w := kinds[object.Resource]
		if w == nil {
			continue
		}
		live, err := w.In(o.cluster.Reader(), object.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
		if err != nil || string(live.GetUID()) != object.UID {
			continue // its watch says so
		}
		state, text := explain.Glance(live, time.Now())
		o.mu.Lock()
		if now, is := o.all[object.UID]; is && now.State == object.State && (state != now.State || text != now.Text) {
			now.State, now.Text = state, text
			o.all[object.UID] = now
			o.note(object.UID)
		}
		o.mu.Unlock()
	}
}
