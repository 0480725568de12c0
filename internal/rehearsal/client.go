package rehearsal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/internal/ship"
)

const (
	// interval is the time between two requests of the client.
	interval = 20 * time.Millisecond
	// mostAtOnce bounds the requests that wait for an answer, so that a webhook which does not answer holds up no
	// other.
	mostAtOnce = 16
	// requestTime is how long the client waits for an answer: as long as the API server waits for a webhook at most.
	requestTime = 30 * time.Second
)

// A verb is a sort of request.
type verb string

// The verbs. Writing puts an object back as it was read: the API server converts, defaults, validates and asks
// webhooks, but the object does not change, so that no operator has work by it. Creating is a dry run for the same
// reason.
const (
	read   verb = "read"
	write  verb = "write"
	create verb = "create"
)

// A target is one sort of request about one object.
type target struct {
	object  *unstructured.Unstructured // in the version in which it is asked for
	version string
	verb    verb
	client  dynamic.ResourceInterface
}

// try makes the request.
func (t target) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, requestTime, errSilent)
	defer cancel()
	switch t.verb {
	case read:
		_, err := t.client.Get(ctx, t.object.GetName(), metav1.GetOptions{})
		return because(ctx, err)
	case create:
		_, err := t.client.Create(ctx, asNew(t.object), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return because(ctx, err)
	}
	live, err := t.client.Get(ctx, t.object.GetName(), metav1.GetOptions{})
	if err == nil {
		_, err = t.client.Update(ctx, live, metav1.UpdateOptions{})
	}
	if apierrors.IsConflict(err) {
		return nil // the operator was faster, which clients know how to deal with
	}
	return because(ctx, err)
}

// errSilent is why a request ends that has no answer.
var errSilent = errors.New("no answer within " + requestTime.String())

func because(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// asNew is an object as a manifest would have it, under a name of its own.
func asNew(o *unstructured.Unstructured) *unstructured.Unstructured {
	fresh := &unstructured.Unstructured{Object: map[string]any{}}
	for name, value := range o.DeepCopy().Object {
		if name != "status" && name != "metadata" {
			fresh.Object[name] = value
		}
	}
	fresh.SetName(shortened(o.GetName()) + "-new")
	fresh.SetNamespace(o.GetNamespace())
	fresh.SetLabels(o.GetLabels())
	fresh.SetAnnotations(o.GetAnnotations())
	return fresh
}

// shortened leaves room for an ending in a name.
func shortened(name string) string { return name[:min(len(name), 48)] }

// targetsOf are the requests about all custom resources of a snapshot.
func targetsOf(cluster *ship.Cluster, s *snapshot) (targets []target) {
	for _, r := range s.resources {
		for _, version := range r.versions {
			o := r.views[version]
			if o == nil {
				continue
			}
			var client dynamic.ResourceInterface = cluster.Client().Resource(r.resource(version))
			if r.namespaced {
				client = cluster.Client().Resource(r.resource(version)).Namespace(r.Namespace)
			}
			for _, verb := range []verb{read, write, create} {
				targets = append(targets, target{o, version, verb, client})
			}
		}
	}
	slices.SortFunc(targets, func(a, b target) int { return strings.Compare(a.name(), b.name()) })
	return targets
}

// name distinguishes targets.
func (t target) name() string { return ship.NameOf(t.object) + " " + t.version + " " + string(t.verb) }

// A client makes requests at an even pace until it is stopped.
type client struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	records []*record // one for each target
}

// A record is what became of the requests of a target.
type record struct {
	target
	requests, refused int
	longest           time.Duration // an answer took
	first             error         // that refused a request
	last              error         // of the newest request; nil if it was answered
	newest            time.Time     // when that request began
	gap               time.Duration // the longest time from a refused request to the next answered one
	open              time.Time     // when the first request began that was refused since the last answered one; zero if none was
}

// note adds the outcome of a request that began at some time. Outcomes may come in another order than requests.
func (r *record) note(begin time.Time, took time.Duration, err error) {
	r.requests++
	r.longest = max(r.longest, took)
	if err != nil {
		r.refused++
		if r.first == nil {
			r.first = err
		}
		if r.open.IsZero() || begin.Before(r.open) {
			r.open = begin
		}
	} else if !r.open.IsZero() && begin.After(r.open) {
		r.gap = max(r.gap, begin.Sub(r.open))
		r.open = time.Time{}
	}
	if begin.After(r.newest) {
		r.newest, r.last = begin, err
	}
}

// end closes a gap that is still open.
func (r *record) end(now time.Time) {
	if !r.open.IsZero() {
		r.gap = max(r.gap, now.Sub(r.open))
	}
}

// startClient begins to make requests about the custom resources of a snapshot, of those sorts that are possible.
func startClient(ctx context.Context, cluster *ship.Cluster, s *snapshot, possible func(target) bool) *client {
	ctx, cancel := context.WithCancel(ctx)
	c := &client{cancel: cancel, done: make(chan struct{})}
	for _, t := range targetsOf(cluster, s) {
		if possible(t) {
			c.records = append(c.records, &record{target: t})
		}
	}
	go c.run(ctx)
	return c
}

// run makes requests until ctx ends, and waits for their answers.
func (c *client) run(ctx context.Context) {
	defer close(c.done)
	if len(c.records) == 0 {
		return
	}
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	places := make(chan struct{}, mostAtOnce)
	var group sync.WaitGroup
	defer group.Wait()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		select {
		case <-ctx.Done():
			return
		case places <- struct{}{}:
		}
		r := c.records[i%len(c.records)]
		group.Go(func() {
			defer func() { <-places }()
			begin := time.Now()
			err := r.try(context.WithoutCancel(ctx)) // a request that has begun is part of what is seen
			c.mu.Lock()
			defer c.mu.Unlock()
			r.note(begin, time.Since(begin), err)
		})
	}
}

// stop ends the client and returns what became of its requests.
func (c *client) stop() []*record {
	c.cancel()
	<-c.done
	return c.records
}
