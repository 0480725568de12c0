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
	cancel  context.CancelFunc
	done    chan struct{}
	targets []target

	mu       sync.Mutex
	outcomes []outcome
}

// An outcome is what became of a request.
type outcome struct {
	of      int       // index of the target
	begin   time.Time // of the request
	took    time.Duration
	err     error // nil if it was answered
	refusal error // why it was made once more; nil if it was answered at first
}

// startClient begins to make requests about the custom resources of a snapshot, of those sorts that are possible.
func startClient(ctx context.Context, cluster *ship.Cluster, s *snapshot, possible func(target) bool) *client {
	running, cancel := context.WithCancel(ctx)
	c := &client{cancel: cancel, done: make(chan struct{})}
	c.targets = inTurn(slices.DeleteFunc(targetsOf(cluster, s), func(t target) bool { return !possible(t) }))
	go c.run(ctx, running)
	return c
}

// inTurn has each sort of request come as often, however many objects there are: first one object of each sort.
func inTurn(targets []target) (all []target) {
	sorts := map[string][]target{}
	for _, t := range targets {
		sorts[t.sort()] = append(sorts[t.sort()], t)
	}
	for i := 0; len(all) < len(targets); i++ {
		for _, name := range sortedKeys(sorts) {
			if one := sorts[name]; i < len(one) {
				all = append(all, one[i])
			}
		}
	}
	return all
}

// sort is what a request has in common with those about other objects.
func (t target) sort() string {
	return t.object.GroupVersionKind().GroupKind().String() + " " + t.version + " " + string(t.verb)
}

// run makes requests until running ends, and waits for their answers. A request that has begun is part of what is seen,
// so only ctx ends it.
func (c *client) run(ctx, running context.Context) {
	defer close(c.done)
	if len(c.targets) == 0 {
		return
	}
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	places := make(chan struct{}, mostAtOnce)
	var group sync.WaitGroup
	defer group.Wait()
	for i := 0; ; i++ {
		select {
		case <-running.Done():
			return
		case <-ticks.C:
		}
		select {
		case <-running.Done():
			return
		case places <- struct{}{}:
		}
		group.Go(func() {
			defer func() { <-places }()
			c.request(ctx, i%len(c.targets))
		})
	}
}

// request makes a request and notes what became of it. It repeats a request that is refused: a pod that ends may close
// the connection on which the API server sends a request at that moment, whatever revision comes.
func (c *client) request(ctx context.Context, of int) {
	o := outcome{of: of, begin: time.Now()}
	if o.refusal = c.targets[of].try(ctx); o.refusal != nil {
		select {
		case <-ctx.Done():
		case <-time.After(interval):
		}
		o.err = c.targets[of].try(ctx)
	}
	o.took = time.Since(o.begin)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outcomes = append(c.outcomes, o)
}

// stop ends the client, makes each request once more, and returns what became of all.
func (c *client) stop(ctx context.Context) service {
	c.cancel()
	<-c.done
	s := service{targets: c.targets, outcomes: c.outcomes, last: make([]error, len(c.targets))}
	for i, t := range c.targets {
		if ctx.Err() == nil {
			s.last[i] = t.try(ctx)
		}
	}
	return s
}
