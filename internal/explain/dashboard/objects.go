package dashboard

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

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
	once    sync.Once
	running sync.WaitGroup
	again   chan struct{} // the kinds may have changed

	mu      sync.Mutex
	all     map[string]Object // by UID
	log     []string          // UIDs that have changed, the newest last
	dropped int               // of the log's beginning
	unknown map[string]string // why something cannot be read, by what
	reasons int               // counts the changes of that
	kinds   map[schema.GroupVersionResource]*watched
	synced  bool
	changed chan struct{} // closed at the next change
}

func newObjects(cluster *ship.Cluster) *objects {
	return &objects{
		cluster: cluster, all: map[string]Object{}, unknown: map[string]string{}, kinds: map[schema.GroupVersionResource]*watched{},
		changed: make(chan struct{}), again: make(chan struct{}, 1),
	}
}

// begin begins to watch the cluster, once, until ctx ends.
func (o *objects) begin(ctx context.Context) {
	o.once.Do(func() { o.running.Go(func() { o.run(ctx) }) })
}

func (o *objects) wait() { o.running.Wait() }

// settle notes which kinds have come, and once all objects have. It reports whether nothing is left to wait for.
func (o *objects) settle() (done bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	done = len(o.kinds) > 0
	for r, w := range o.kinds {
		switch {
		case !w.synced():
			done = done && w.failed
		case w.failed:
			w.failed = false
			o.forget(r.GroupResource().String())
		}
	}
	if done && !o.synced {
		o.synced = true
		o.wake()
	}
	return done && len(o.unknown) == 0
}

// wake needs o.mu.
func (o *objects) wake() {
	close(o.changed)
	o.changed = make(chan struct{})
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

// mostUnknown bounds what is said of what cannot be read.
const mostUnknown = 200

// cannot notes why something cannot be read.
func (o *objects) cannot(what, why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known, is := o.unknown[what]; is && known == why || !is && len(o.unknown) >= mostUnknown {
		return
	}
	o.unknown[what] = why
	o.reasons++
	o.wake()
}

// can takes that back.
func (o *objects) can(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forget(what)
}

// forget needs o.mu.
func (o *objects) forget(what string) {
	if _, is := o.unknown[what]; is {
		delete(o.unknown, what)
		o.reasons++
		o.wake()
	}
}

// view is how far one browser knows the objects.
type view struct {
	of      *objects
	at      int      // in the log
	first   []string // UIDs that it has to get before what changes
	reasons int
	synced  bool
}

func (o *objects) view() *view {
	o.mu.Lock()
	defer o.mu.Unlock()
	return &view{of: o, at: o.dropped + len(o.log), first: slices.Collect(maps.Keys(o.all))}
}

// next returns the next line, if there is one, and what is closed when there is more. It is not ok if the view has
// fallen behind.
func (v *view) next() (line objectLine, is bool, more <-chan struct{}, ok bool) {
	o := v.of
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case v.at < o.dropped:
		return line, false, nil, false
	case len(v.first) > 0:
		n := min(len(v.first), mostInLine)
		line.take(o.all, v.first[:n])
		v.first = v.first[n:]
	case v.at < o.dropped+len(o.log):
		some := o.log[v.at-o.dropped:]
		n := min(len(some), mostInLine)
		line.take(o.all, some[:n])
		v.at += n
	case v.reasons != o.reasons:
		v.reasons = o.reasons
		all := []string{}
		for _, what := range slices.Sorted(maps.Keys(o.unknown)) {
			all = append(all, what+": "+o.unknown[what])
		}
		line.Unknown = &all
	case o.synced && !v.synced:
		v.synced, line.Synced = true, true
	default:
		return line, false, o.changed, true
	}
	return line, true, nil, true
}

// take adds what objects are like by now.
func (l *objectLine) take(all map[string]Object, uids []string) {
	taken := map[string]bool{}
	for _, uid := range uids {
		if taken[uid] {
			continue
		}
		taken[uid] = true
		if object, is := all[uid]; is {
			l.Objects = append(l.Objects, object)
		} else {
			l.Gone = append(l.Gone, uid)
		}
	}
}
