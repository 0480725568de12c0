package prove

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// resource is one of the API, in whatever version.
type resource struct{ group, name string }

func (r resource) String() string {
	if r.group == "" {
		return r.name
	}
	return r.name + "." + r.group
}

// A Request is one of the operator's, and how it was answered.
type Request struct {
	at          time.Time // its answer
	door        string
	operator    string // its name
	serial      int64
	step        int
	verb        string
	of          resource
	subresource string
	namespace   string
	name        string
	status      int
	version     string // the resource version of the answer
	began       int64  // revisions of the store
	ended       int64
	dryRun      bool
	fresh       bool
	fault       string // that it met
	shown       int    // how many sights its process had had when it came

	point     Point // once it is known which names are stable
	effective bool  // it has changed something
	created   bool
	deleted   bool
}

// writes reports whether the request is to change something.
func (r *Request) writes() bool {
	return !r.dryRun && slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.verb)
}

// A change is a write to the store.
type change struct {
	at       time.Time
	step     int
	key      string
	revision int64
	created  bool
	deleted  bool
	object   map[string]any // nil if it was deleted
	before   map[string]any // nil if it is not known

	fromBefore bool // what is deleted is not of the baseline
}

// A client is what is known of an operator's process by its door.
type client struct {
	operator string             // its name
	inFlight map[int64]int      // by serial; how much the process had been shown when the request came
	last     time.Time          // of what it asked for or was sent
	watches  map[int64]resource // that are open
	synced   map[int64]bool     // of them, that have sent what was there
	faults   map[int64]string   // of requests that are not answered
	asked    bool               // for anything
	seen     map[resource]int64 // the last revision of each that it was sent
	missed   int                // reports that were not sent
}

// A world is a cluster as it is reported, from one reset to the next.
type world struct {
	key    []byte              // of the digests of Secrets
	kinds  map[resource]string // of the objects of resources
	ignore []Ignore

	mu       sync.Mutex
	since    int64                     // reports of changes up to it are not of this time
	objects  map[string]map[string]any // by key; what differs from the baseline
	gone     map[string]bool           // keys of the baseline's objects that were deleted
	last     map[resource]int64        // the revision at which an object of each was deleted last
	base     map[string]bool           // keys of the baseline's objects that were ever deleted
	made     map[string]bool           // keys of objects that are not the baseline's, also of a time before
	changes  []change
	changed  time.Time // the last one
	requests []*Request
	clients  map[string]*client // by door
	struck   []protocol.Report
	step     int
	events   bool          // the operator reads Events
	woken    chan struct{} // gets a value when a fault was committed

	elections map[string]election // by key
	sights    map[string][]sight  // by door
}

func newWorld(key []byte, kinds Kinds) *world {
	of := map[resource]string{}
	for kind, place := range kinds {
		of[resource{kind.Group, place.Resource}] = kind.Kind
	}
	return &world{key: key, kinds: of, objects: map[string]map[string]any{}, gone: map[string]bool{}, base: map[string]bool{}, made: map[string]bool{}, last: map[resource]int64{}, clients: map[string]*client{}, woken: make(chan struct{}, 1), elections: map[string]election{}, sights: map[string][]sight{}}
}

// begin forgets all but the clients that there are.
func (w *world) begin(revision int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since, w.step = revision, 0
	w.objects, w.gone = map[string]map[string]any{}, map[string]bool{}
	before := w.changes
	w.changes, w.requests, w.struck = nil, nil, nil
	clear(w.sights)
	w.changed = time.Now()
	for _, c := range before { // reports may come before the answer to the reset
		if c.revision > revision {
			c.step, c.before = 0, w.objects[c.key]
			w.keep(c)
		}
	}
}

// keep notes a change of this time.
func (w *world) keep(c change) {
	if c.deleted {
		if !c.fromBefore {
			w.gone[c.key] = true
		}
		delete(w.objects, c.key)
	} else {
		w.objects[c.key] = c.object
		delete(w.gone, c.key)
	}
	w.changes = append(w.changes, c)
}

// enter makes a client known.
func (w *world) enter(door, operator string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clients[door] = &client{operator: operator, inFlight: map[int64]int{}, last: time.Now(), watches: map[int64]resource{}, synced: map[int64]bool{}, seen: map[resource]int64{}, faults: map[int64]string{}}
}

// leave forgets a client.
func (w *world) leave(door string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.clients, door)
}

// readsEvents reports whether the operator has ever asked for Events.
func (w *world) readsEvents() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events
}

func (w *world) at(step int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step = step
}

// see takes a report.
func (w *world) see(r protocol.Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if r.Name == protocol.EventChanged {
		w.change(r, now)
		return
	}
	c := w.clients[r.Door]
	if c == nil {
		return // it has been killed
	}
	w.events = w.events || r.Resource == "events" && (r.Verb == "get" || r.Verb == "list" || r.Verb == "watch")
	switch r.Name {
	case protocol.EventBegun:
		c.inFlight[r.Serial], c.asked = len(w.sights[r.Door]), true
		c.last = now
	case protocol.EventDelivered:
		w.sees(r)
		if r.Type == "SYNCED" {
			c.synced[r.Serial] = true
		}
		if revision, err := strconv.ParseInt(r.ResourceVersion, 10, 64); err == nil {
			of := resource{r.Group, r.Resource}
			c.seen[of] = max(c.seen[of], revision)
		}
		c.last = now
	case protocol.EventStruck:
		w.struck = append(w.struck, r)
		w.befall(r)
		select {
		case w.woken <- struct{}{}:
		default:
		}
	case protocol.EventRequest:
		c.missed += r.Missed
		c.last = now
		if r.Verb == "watch" && r.Resource != "" {
			if r.Status == 200 {
				c.watches[r.Serial] = resource{r.Group, r.Resource}
			}
			return
		}
		shown := c.inFlight[r.Serial]
		delete(c.inFlight, r.Serial)
		w.sees(r)
		w.request(r, now, c.faults[r.Serial], min(shown, len(w.sights[r.Door])))
	}
}

// befall notes which request a fault has met. It may be answered later.
func (w *world) befall(r protocol.Report) {
	for _, q := range slices.Backward(w.requests) {
		if q.door == r.Door && q.serial == r.Serial {
			q.fault = r.Fault
			return
		}
	}
	w.clients[r.Door].faults[r.Serial] = r.Fault
}

// passing are resources that say nothing of what an operator is for.
var passing = []string{"events", "leases", "subjectaccessreviews", "selfsubjectaccessreviews", "tokenreviews", "localsubjectaccessreviews"}

func (w *world) request(r protocol.Report, now time.Time, fault string, shown int) {
	w.stands(r)
	if r.Resource == "" || slices.Contains(passing, r.Resource) {
		return
	}
	w.requests = append(w.requests, &Request{
		at: now, door: r.Door, operator: w.clients[r.Door].operator, serial: r.Serial, step: w.step, verb: r.Verb, of: resource{r.Group, r.Resource}, subresource: r.Subresource,
		namespace: r.Namespace, name: r.ObjectName, status: r.Status, version: r.ResourceVersion, began: r.Began, ended: r.Ended, dryRun: r.DryRun, fresh: r.Fresh, fault: fault, shown: shown,
	})
}

// existing are the objects that differ from the baseline, and the keys of those that are gone.
func (w *world) existing() (objects []map[string]any, gone []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(w.objects)) {
		objects = append(objects, w.objects[key])
	}
	return objects, slices.Sorted(maps.Keys(w.gone))
}

// has reports whether an object is there, which differs from the baseline.
func (w *world) has(object map[string]any) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.objects {
		if o["kind"] == object["kind"] && metadata(o, "name") == metadata(object, "name") && (metadata(o, "namespace") == "" || metadata(o, "namespace") == cmp.Or(metadata(object, "namespace"), metav1.NamespaceDefault)) {
			return true
		}
	}
	return false
}

// A pulse is how busy an operator and its cluster are.
type pulse struct {
	changes  int
	changed  time.Time // the last change of an object
	last     time.Time // the last thing that the operator asked for or was sent
	inFlight int
	asked    bool           // for anything
	watching map[watch]bool // watches that have sent what was there
	missed   int
}

// stepBegan is the revision of the first change in a step, which is that of the user; 0 if there is none.
func (w *world) stepBegan(step int) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.changes {
		if c.step == step {
			return c.revision
		}
	}
	return 0
}

// wasShown reports whether the client behind a door has got a list as of a revision.
func (w *world) wasShown(door string, revision int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.requests, func(r *Request) bool {
		return r.door == door && r.verb == "list" && r.status == 200 && r.version == fmt.Sprint(revision)
	})
}

// pulse is that of the clients behind doors.
func (w *world) pulse(doors ...string) pulse {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := pulse{changes: len(w.changes), changed: w.changed, watching: map[watch]bool{}}
	for _, door := range doors {
		c := w.clients[door]
		if c == nil {
			continue
		}
		p.last, p.inFlight, p.asked, p.missed = latest(p.last, c.last), p.inFlight+len(c.inFlight), p.asked || c.asked, p.missed+c.missed
		for serial, of := range c.watches {
			if c.synced[serial] {
				p.watching[watch{c.operator, of}] = true
			}
		}
	}
	return p
}

// nextStruck takes a fault that was committed.
func (w *world) nextStruck() (r protocol.Report, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.struck) == 0 {
		return r, false
	}
	r = w.struck[0]
	w.struck = w.struck[1:]
	return r, true
}

// history are the requests and changes until now. Of each write it is known whether it has changed something.
func (w *world) history() ([]*Request, []change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = slices.DeleteFunc(w.requests, w.forElection)
	for _, r := range w.requests {
		w.attribute(r)
	}
	return slices.Clone(w.requests), slices.Clone(w.changes)
}

// attribute finds the change that a request has made, by the revisions of the store before and after it.
func (w *world) attribute(r *Request) {
	r.effective, r.created, r.deleted = false, false, false
	if !r.writes() || r.status >= 300 || r.status == 0 {
		return
	}
	kind := w.kinds[r.of]
	for _, c := range w.changes {
		if c.revision <= r.began || c.revision > r.ended || !c.isOf(r, kind) {
			continue
		}
		deletes := strings.HasPrefix(r.verb, "delete")
		switch {
		case deletes && c.goes():
			r.effective, r.deleted = true, true
		case r.verb == "delete" && c.deleted: // of what was being deleted
			r.effective = true
		case !deletes && (fmt.Sprint(c.revision) == r.version || c.deleted):
			r.effective, r.created = true, r.created || c.created
		}
	}
}
