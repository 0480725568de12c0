package frontdoor

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/endpoints/responsewriter"

	"github.com/slipway-dev/slipway/cluster/objectmeta"
)

// A Report is a [Request], or of an inspected door also a [Begun], a [Struck] or a [Delivered].
type Report interface{ report() }

func (Request) report()   {}
func (Begun) report()     {}
func (Struck) report()    {}
func (Delivered) report() {}

// Begun reports a request when it comes in. Its [Request] follows.
type Begun struct{ Request }

// Struck reports that a fault was committed.
type Struck struct {
	Fault  string
	Serial int64 // of the request
	Status int   // of the server's answer; 0 if the server did not get the request
}

// Delivered reports an event of a watch that was sent.
type Delivered struct {
	User            string // the door's
	Serial          int64  // of the watch
	Group, Resource string
	Type            string // ADDED, MODIFIED, DELETED; SYNCED once the watch has sent what was there at its beginning
	Namespace, Name string
	ResourceVersion string
}

// Request reports a request that was let in and how it was answered. Verb, Group, Version, Resource, Subresource,
// Namespace and Name are those by which the API server authorizes it; see RequestInfo in
// k8s.io/apiserver/pkg/endpoints/request.
type Request struct {
	User        string // the door's, also if it impersonates another one
	Verb        string // also a method in small letters, for paths that are no resource
	Group       string
	Version     string
	Resource    string // empty for a path that is no resource
	Subresource string
	Namespace   string
	Name        string // of an object that is created, the one it has got
	Path        string // of what is no resource
	Status      int    // 0 if the connection ended without an answer
	// Latency is the time from the request's arrival to the end of its answer; if it lasts, as watches do, to the
	// beginning.
	Latency time.Duration
	// ResourceVersion is that of the object or list in the answer; empty if it is not known.
	ResourceVersion string
	Trace           string    // what the client says in the header traceparent, at most 64 bytes
	Came            time.Time // when it arrived
	// Missed is how many reports before this one are not there, because nothing took them.
	Missed int

	// The rest is known of inspected doors.

	Serial       int64 // counts requests
	Began, Ended int64 // revisions of the store before and after the request
	DryRun       bool
	// Fresh says that a read asks for what is stored at that moment, and for all of it. Those that fill caches do not.
	Fresh bool
	// Selects says that a list or a watch is of some objects only, by a selector.
	Selects bool
}

// inspect reads what is known of inspected doors only.
func (r *Request) inspect(from *http.Request, info *request.RequestInfo) {
	query := from.URL.Query()
	r.DryRun = query.Has("dryRun")
	r.Selects = query.Get("labelSelector") != "" || query.Get("fieldSelector") != ""
	r.Fresh = (info.Verb == "get" || info.Verb == "list") && query.Get("resourceVersion") == "" && query.Get("limit") == ""
	if info.IsResourceRequest && info.Verb == "create" && info.Name == "" {
		r.Name = nameOfNew(from)
	}
}

// resolver has the prefixes of every API server without others in its flags.
var resolver = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// about says what a request asks for. What cannot be resolved is the chain's to refuse.
func about(r *http.Request) *request.RequestInfo {
	info, err := resolver.NewRequestInfo(r)
	if err != nil {
		return &request.RequestInfo{Path: r.URL.Path, Verb: strings.ToLower(r.Method)}
	}
	return info
}

// passage is a request on its way through the door.
type passage struct {
	began time.Time
	long  bool // it is reported when its answer begins
	said  Request
	once  sync.Once
	to    *queue

	revision func() int64 // of the store; nil unless the door is inspected
	// delivers returns what reads the events of an answer; nil if nothing does.
	delivers func(contentType string) *deliveries
}

// maxTrace is more than a traceparent of the present version has: https://www.w3.org/TR/trace-context.
const maxTrace = 64

func (d *Door) begin(r *http.Request, info *request.RequestInfo) *passage {
	p := &passage{began: time.Now(), long: d.options.LongRunning(r, info), to: d.reports, said: Request{User: d.options.Identity.Name, Verb: info.Verb}}
	trace := r.Header.Get("Traceparent")
	p.said.Came, p.said.Trace = p.began, strings.Clone(trace[:min(len(trace), maxTrace)])
	if d.inside != nil {
		p.revision = d.options.Revision
		p.said.Serial, p.said.Began = d.serial.Add(1), p.revision()
		p.said.inspect(r, info)
		p.said.Fresh = p.said.Fresh && !p.long
	}
	if !info.IsResourceRequest {
		p.said.Path = info.Path[:min(len(info.Path), maxReported)]
		return p
	}
	defer p.said.cut()
	p.said.Group, p.said.Version, p.said.Resource, p.said.Subresource = info.APIGroup, info.APIVersion, info.Resource, info.Subresource
	p.said.Namespace = info.Namespace
	if d.inside == nil && d.options.Observe != nil && info.Verb == "watch" {
		said := Delivered{User: p.said.User, Group: info.APIGroup, Resource: info.Resource}
		p.delivers = func(contentType string) *deliveries { return newDeliveries(contentType, said, d.options.Observe) }
	}
	if info.Name != "" {
		p.said.Name = info.Name
	}
	return p
}

// report reports the request, once.
func (p *passage) report(status int, of objectmeta.Metadata) {
	p.once.Do(func() {
		r := p.said
		r.Status, r.Latency, r.ResourceVersion = status, time.Since(p.began), of.ResourceVersion
		if p.revision != nil {
			r.Ended = p.revision()
		}
		if r.Verb == "create" && of.Name != "" {
			r.Name = of.Name
		}
		p.to.put(r)
	})
}

// let takes a request into the server. All that are let in go through here.
//
// The answer is not to be compressed: over loopback that costs time, and its resource version could not be read.
func (d *Door) let(w http.ResponseWriter, r *http.Request, p *passage) {
	r.Header.Del("Accept-Encoding")
	a := &answer{ResponseWriter: w, passage: p}
	returned := false
	defer func() {
		if returned && !a.taken { // and not by a panic, by which handlers break a connection off
			a.begin(http.StatusOK) // as net/http does
		}
		p.report(a.status, a.reader.Found())
	}()
	d.handler.ServeHTTP(responsewriter.WrapForHTTP1Or2(a), r)
	returned = true
}

// maxReported bounds each text of a report, in bytes: a client may ask for any path.
const maxReported = 1 << 10

// cut shortens texts that are longer.
func (r *Request) cut() {
	for _, text := range []*string{&r.Group, &r.Version, &r.Resource, &r.Subresource, &r.Namespace, &r.Name} {
		*text = (*text)[:min(len(*text), maxReported)]
	}
}

// maxWaiting and maxInspected bound the reports that wait for their reader; those of an inspected door are more.
const (
	maxWaiting   = 1 << 10
	maxInspected = 1 << 14
)

// queue holds reports. Nothing waits for room in it.
type queue struct {
	c       chan Report
	observe func(Report) // may be nil

	mu     sync.Mutex
	missed int // since the last one that had room
	closed bool
}

func newQueue(size int) *queue { return &queue{c: make(chan Report, size)} }

func (q *queue) put(r Report) {
	if q.observe != nil {
		q.observe(r)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	request, is := r.(Request)
	if is {
		request.Missed = q.missed
		r = request
	}
	select {
	case q.c <- r:
		if is {
			q.missed = 0
		}
	default:
		q.missed++
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	close(q.c)
}
