package frontdoor

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/endpoints/responsewriter"
)

// resource is one whose watches are held, in any version.
type resource struct{ group, name string }

// Synced is the type of a [Delivered] that says that a watch has sent what was there at its beginning.
const Synced = "SYNCED"

// A stream is the answer to a watch, cut into events. What is held back waits in it.
//
// An API server promises that a client sees the events of a watch in order, not when, and that a watch may end at any
// time. A client that watches anew may see several changes of an object as one; see
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes.
type stream struct {
	http.ResponseWriter
	door   *Door
	of     resource
	serial int64
	about  Request
	listed bool // it begins with what is there
	cut    context.CancelFunc

	mu     sync.Mutex
	frames bool   // the answer is one of events
	begun  bool   // the answer has begun
	rest   []byte // of an event that is not complete
	held   []event
	size   int // of what was held since the last release, in bytes
	synced bool
	ended  bool
}

// event is one of a watch.
type event struct {
	Type   watch.EventType `json:"type"`
	Object json.RawMessage `json:"object"`

	of    types.UID
	said  Delivered
	end   bool // of what was there at the beginning
	frame []byte
}

// watch answers a watch.
func (d *Door) watch(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	readable(r)
	ctx, cut := context.WithCancel(r.Context())
	defer cut()
	p := d.begin(r, info)
	s := &stream{ResponseWriter: w, door: d, of: resource{info.APIGroup, info.Resource}, serial: p.said.Serial, about: p.said,
		listed: r.URL.Query().Get("sendInitialEvents") == "true", cut: cut}
	d.inside.enter(s)
	defer d.inside.leave(s)
	defer s.finish()
	d.let(responsewriter.WrapForHTTP1Or2(s), r.WithContext(ctx), p)
}

// readable asks for JSON, whose events end with a line.
func readable(r *http.Request) {
	accept := r.Header.Get("Accept")
	r.Header.Set("Accept", strings.NewReplacer("application/vnd.kubernetes.protobuf", "application/json", "application/cbor-seq", "application/json", "application/cbor", "application/json").Replace(accept))
}

func (i *inspection) enter(s *stream) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.streams[s] = struct{}{}
}

func (i *inspection) leave(s *stream) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.streams, s)
}

// open are the watches that are open.
func (i *inspection) open() (all []*stream) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for s := range i.streams {
		all = append(all, s)
	}
	return all
}

func (i *inspection) holds(of resource) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.held[of]
}

// Hold has the watches of a resource deliver nothing until [Door.Release].
func (d *Door) Hold(group, name string) error {
	if d.inside == nil {
		return ErrInspect
	}
	d.inside.mu.Lock()
	defer d.inside.mu.Unlock()
	d.inside.held[resource{group, name}] = true
	return nil
}

// Release delivers what the watches of a resource have held back. If merged, several changes of an object are one, and
// what has come and gone is not seen, as by a client that watches anew.
func (d *Door) Release(group, name string, merged bool) error {
	if d.inside == nil {
		return ErrInspect
	}
	of := resource{group, name}
	d.inside.mu.Lock()
	delete(d.inside.held, of)
	d.inside.mu.Unlock()
	for _, s := range d.inside.open() {
		if s.of == of {
			s.release(merged)
		}
	}
	return nil
}

// Cut ends the watches of a resource, as a server may at any time.
func (d *Door) Cut(group, name string) error {
	if d.inside == nil {
		return ErrInspect
	}
	for _, s := range d.inside.open() {
		if s.of == (resource{group, name}) {
			s.cut()
		}
	}
	return nil
}

// Unwrap is for [http.ResponseController] and package responsewriter.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// WriteHeader begins the answer.
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(status)
	s.ResponseWriter.WriteHeader(status)
}

// begin needs s.mu.
func (s *stream) begin(status int) {
	if s.begun {
		return
	}
	s.begun = true
	s.frames = status == http.StatusOK && strings.HasPrefix(s.Header().Get("Content-Type"), "application/json")
	if s.frames && !s.listed {
		s.sync("")
	}
}

// sync notes that the client knows what was there at a revision; empty: it knows some of it, or has asked for what
// comes behind one. It needs s.mu.
func (s *stream) sync(revision string) {
	s.synced = true
	if s.about.Selects {
		revision = ""
	}
	s.door.reports.put(Delivered{User: s.door.options.Identity.Name, Serial: s.serial, Group: s.of.group, Resource: s.of.name, Type: Synced,
		Namespace: s.about.Namespace, ResourceVersion: revision})
}

// Flush sends what was written.
func (s *stream) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(http.StatusOK)
	s.flush()
}

// flush needs s.mu.
func (s *stream) flush() {
	if !s.ended {
		_ = http.NewResponseController(s.ResponseWriter).Flush() // net/http's can
	}
}

// Write sends the events that are complete, or holds them back.
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(http.StatusOK)
	if !s.frames {
		return s.ResponseWriter.Write(b)
	}
	s.rest = append(s.rest, b...)
	for {
		end := bytes.IndexByte(s.rest, '\n')
		if end < 0 {
			return len(b), nil
		}
		e := s.read(bytes.Clone(s.rest[:end+1]))
		s.rest = s.rest[end+1:]
		if s.holds(e) {
			s.keep(e)
			continue
		}
		if err := s.send(e); err != nil {
			return 0, err
		}
	}
}

// read reads an event as far as it says which object it is about.
func (s *stream) read(frame []byte) event {
	e := event{frame: frame}
	var object metav1.PartialObjectMetadata
	if json.Unmarshal(frame, &e) == nil {
		_ = json.Unmarshal(e.Object, &object) // of what is none nothing is known
	}
	e.of = object.UID
	e.end = e.Type == watch.Bookmark && object.Annotations[metav1.InitialEventsAnnotationKey] == "true"
	e.said = Delivered{User: s.door.options.Identity.Name, Serial: s.serial, Group: s.of.group, Resource: s.of.name, Type: string(e.Type),
		Namespace: object.Namespace, Name: object.Name, ResourceVersion: object.ResourceVersion}
	return e
}

// maxHeldBytes bounds what waits for a client.
const maxHeldBytes = 32 << 20

// maxHeld is how many events wait before they are merged, as by a client that watches anew.
const maxHeld = 512

// keep holds an event back. Bookmarks are dropped: a client that goes on behind one would never see what was held.
func (s *stream) keep(e event) {
	if e.Type == watch.Bookmark && !e.end {
		return
	}
	s.held = append(s.held, e)
	s.size += len(e.frame)
	if s.door.parked() && (len(s.held) >= maxHeld || s.size > maxHeldBytes) {
		s.held, s.size = merge(s.held), 0
		for _, left := range s.held {
			s.size += len(left.frame)
		}
	}
	if s.size > maxHeldBytes { // a server ends watches of clients that are slow
		s.cut()
	}
}

// holds reports whether an event waits. The process behind a parked door sees what was there before its work began, and
// what has become of that later. Behind one that shows the past it sees nothing new.
func (s *stream) holds(e event) bool {
	if s.door.behind(s.of.group, s.of.name) {
		return s.synced || !s.listed
	}
	if s.door.parked() {
		if e.Type == watch.Bookmark {
			return len(s.held) > 0 && !e.end
		}
		return s.synced || !s.listed || !s.door.options.Known(e.of)
	}
	return len(s.held) > 0 || s.door.inside.holds(s.of)
}

// send needs s.mu.
func (s *stream) send(e event) error {
	if e.end {
		s.sync(e.said.ResourceVersion)
	}
	if s.synced && e.Type != watch.Bookmark {
		s.door.reports.put(e.said)
	}
	// A client that does not read holds no other one up: its connection breaks.
	_ = http.NewResponseController(s.ResponseWriter).SetWriteDeadline(time.Now().Add(writeLimit)) // net/http's can
	_, err := s.ResponseWriter.Write(e.frame)
	return err
}

// writeLimit is how long a client may take to read what was sent before.
const writeLimit = 10 * time.Second

// release sends what was held back.
func (s *stream) release(merged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || len(s.held) == 0 {
		return
	}
	events := s.held
	s.held, s.size = nil, 0
	if merged {
		events = merge(events)
	}
	for _, e := range events {
		if s.send(e) != nil {
			return // the client has gone
		}
	}
	s.flush()
}

// merge leaves the last event of each object, and none of objects that have come and gone.
func merge(events []event) (merged []event) {
	first, last := map[types.UID]watch.EventType{}, map[types.UID]int{}
	for i, e := range events {
		if e.of == "" {
			continue
		}
		if first[e.of] == "" {
			first[e.of] = e.Type
		}
		last[e.of] = i
	}
	for i, e := range events {
		switch {
		case e.of == "": // no object
			merged = append(merged, e)
		case last[e.of] != i, first[e.of] == watch.Added && e.Type == watch.Deleted:
		case first[e.of] == watch.Added && e.Type == watch.Modified:
			merged = append(merged, e.as(watch.Added))
		default:
			merged = append(merged, e)
		}
	}
	return merged
}

// as is the event with another type.
func (e event) as(t watch.EventType) event {
	e.Type, e.said.Type = t, string(t)
	e.frame = append(append([]byte(`{"type":"`+string(t)+`","object":`), e.Object...), "}\n"...)
	return e
}

// finish sends what is left of an answer that was no event, and nothing after it: the handler has returned.
func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rest) > 0 {
		_, _ = s.ResponseWriter.Write(s.rest) // the client may have gone
	}
	s.ended = true
}
