package impersonation

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/fields"
)

// Request reports a request that was let in and how it was answered. Verb, Group, Version, Resource, Subresource,
// Namespace and Name are those by which the API server authorizes it
// (https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb).
type Request struct {
	User        string // the door's
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
	// Missed is how many requests before this one are not reported, because Report was busy.
	Missed int
}

// about says what a request asks for, by the rules of the API's paths: /api/VERSION and /apis/GROUP/VERSION, then
// perhaps the old prefixes watch and proxy, then perhaps namespaces/NAMESPACE, then RESOURCE/NAME/SUBRESOURCE.
func about(method string, u *url.URL) Request {
	other := Request{Verb: strings.ToLower(method), Path: u.Path}
	r := Request{Verb: verb(method)}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		r.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		r.Group, r.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return other
	}
	if parts[0] == "watch" || parts[0] == "proxy" {
		if len(parts) == 1 {
			return other
		}
		r.Verb, parts = parts[0], parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		r.Namespace = parts[1]
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" { // which are subresources of the namespace
			parts = parts[2:]
		}
	}
	r.Resource = parts[0]
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 && r.Verb != "proxy" {
		r.Subresource = parts[2]
	}
	if r.Name == "" {
		r.Verb, r.Name = ofCollection(r.Verb, u.Query())
	}
	return r
}

// verb is the verb of a method for an object with a name.
func verb(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch, http.MethodDelete:
		return strings.ToLower(method)
	}
	return ""
}

// ofCollection is the verb of a request that names no object by its path, and the only name that a field selector lets
// through.
func ofCollection(verb string, query url.Values) (of, name string) {
	switch verb {
	case "delete":
		return "deletecollection", ""
	case "get":
	default:
		return verb, ""
	}
	of = "list"
	if watch := query["watch"]; len(watch) > 0 && watch[0] != "0" && !strings.EqualFold(watch[0], "false") {
		of = "watch"
	}
	selector, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return of, ""
	}
	if name, ok := selector.RequiresExactMatch("metadata.name"); ok && len(content.IsPathSegmentName(name)) == 0 {
		return of, name
	}
	return of, ""
}

// lasts reports whether a request, such as a watch, lasts until one side ends it. Those are what a kube-apiserver takes
// for such.
func (r Request) lasts() bool {
	if r.Resource == "" {
		return strings.HasPrefix(r.Path, "/debug/pprof/")
	}
	return r.Verb == "watch" || r.Verb == "proxy" || slices.Contains([]string{"attach", "exec", "proxy", "log", "portforward"}, r.Subresource)
}

// passage is a request on its way through the door. One goroutine, the handler's, has it.
type passage struct {
	began    time.Time
	long     bool // it is reported when its answer begins
	said     Request
	status   int
	metadata *reader
	to       *queue
	reported bool
}

func (d *Door) begin(r *http.Request) *passage {
	said := about(r.Method, r.URL)
	said.User = d.options.User
	for _, text := range []*string{&said.Path, &said.Group, &said.Resource, &said.Subresource, &said.Namespace, &said.Name} {
		*text = (*text)[:min(len(*text), maxReported)]
	}
	return &passage{began: time.Now(), long: said.lasts(), said: said, to: d.reports}
}

// report reports the request, once.
func (p *passage) report() {
	if p.reported {
		return
	}
	p.reported = true
	r, name := p.said, ""
	r.Status, r.Latency = p.status, time.Since(p.began)
	if name, r.ResourceVersion = p.metadata.found(); r.Verb == "create" && r.Name == "" {
		r.Name = name
	}
	p.to.put(r)
}

// maxReported bounds each text of a report, in bytes: a client may ask for any path.
const maxReported = 1 << 10

// maxWaiting bounds the reports that wait until Report returns.
const maxWaiting = 1024

// queue holds reports. Nothing waits for room in it.
type queue struct {
	c     chan Request
	ended chan struct{}

	mu     sync.Mutex
	missed int // since the last one that had room
}

func newQueue(report func(Request)) *queue {
	q := &queue{c: make(chan Request, maxWaiting), ended: make(chan struct{})}
	go func() {
		defer close(q.ended)
		for r := range q.c {
			if report != nil {
				report(r)
			}
		}
	}()
	return q
}

func (q *queue) put(r Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.Missed = q.missed
	select {
	case q.c <- r:
		q.missed = 0
	default:
		q.missed++
	}
}

// close waits until what was put has been reported. Nothing may be put any more.
func (q *queue) close() {
	close(q.c)
	<-q.ended
}
