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
	// Missed is how many requests before this one are not reported, because nothing took the reports.
	Missed int
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
}

func (d *Door) begin(r *http.Request, info *request.RequestInfo) *passage {
	p := &passage{began: time.Now(), long: d.options.LongRunning(r, info), to: d.requests, said: Request{User: d.options.Identity.Name, Verb: info.Verb}}
	if !info.IsResourceRequest {
		p.said.Path = info.Path[:min(len(info.Path), maxReported)]
		return p
	}
	defer p.said.cut()
	p.said.Group, p.said.Version, p.said.Resource, p.said.Subresource = info.APIGroup, info.APIVersion, info.Resource, info.Subresource
	p.said.Namespace, p.said.Name = info.Namespace, info.Name
	return p
}

// report reports the request, once.
func (p *passage) report(status int, of objectmeta.Metadata) {
	p.once.Do(func() {
		r := p.said
		r.Status, r.Latency, r.ResourceVersion = status, time.Since(p.began), of.ResourceVersion
		if r.Verb == "create" && r.Name == "" {
			r.Name = of.Name
		}
		p.to.put(r)
	})
}

// pass takes a request into the server. All that are let in go through here.
//
// The answer is not to be compressed: over loopback that costs time, and its resource version could not be read.
func (d *Door) pass(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	p := d.begin(r, info)
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

// maxWaiting bounds the reports that wait for their reader.
const maxWaiting = 1024

// queue holds reports. Nothing waits for room in it.
type queue struct {
	c chan Request

	mu     sync.Mutex
	missed int // since the last one that had room
	closed bool
}

func newQueue() *queue { return &queue{c: make(chan Request, maxWaiting)} }

func (q *queue) put(r Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	r.Missed = q.missed
	select {
	case q.c <- r:
		q.missed = 0
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
