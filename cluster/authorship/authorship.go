// Package authorship knows who makes the writes of an API server. It looks at three places of it: where requests come
// in ([Calls.Serve]), at admission ([Admission]), and at the storage of objects ([Calls.Storage]), where each write
// that has an effect gets its revision. A change in etcd is joined with its author by that revision alone:
//
//	written, known := calls.Written(change.Key, change.Revision, time.Second)
//
// Requests that an API server makes to itself in the course of another request name that one.
package authorship

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/storage"

	"github.com/slipway-dev/slipway/cluster/history/conceal"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// Call is a request.
type Call struct {
	id, within     int64
	agent, manager string
	apply          bool
	trace          string

	mu        sync.Mutex
	user      string
	decisions []decision
}

// decision is one of admission, about one object.
type decision struct {
	protocol.RecordDecision
	resource, namespace, name string
}

type callKey struct{}

func callOf(ctx context.Context) *Call {
	call, _ := ctx.Value(callKey{}).(*Call)
	return call
}

// Authenticated notes who makes the request of the context.
func Authenticated(ctx context.Context, who user.Info) {
	if call := callOf(ctx); call != nil && who != nil {
		call.mu.Lock()
		defer call.mu.Unlock()
		call.user = who.GetName()
	}
}

// decide notes a decision about the request of the context.
func decide(ctx context.Context, a admission.Attributes, d protocol.RecordDecision) {
	call := callOf(ctx)
	if call == nil {
		return
	}
	d.Text = conceal.Cut(d.Text, maxText)
	call.mu.Lock()
	defer call.mu.Unlock()
	if len(call.decisions) < maxDecisions {
		call.decisions = append(call.decisions, decision{d, a.GetResource().Resource, a.GetNamespace(), nameOf(a)})
	}
}

// nameOf is the name of the object that a request is about. That of a whole collection is about each of them.
func nameOf(a admission.Attributes) string {
	for _, o := range []runtime.Object{a.GetOldObject(), a.GetObject()} {
		if of, err := meta.Accessor(o); a.GetName() == "" && err == nil {
			return of.GetName()
		}
	}
	return a.GetName()
}

const (
	maxText      = 1 << 10 // of a decision, in bytes
	maxWord      = 512     // of what a client says of itself
	maxDecisions = 256     // of a request
)

// short is the beginning of a text, which does not keep the rest in memory.
func short(text string, limit int) string { return strings.Clone(text[:min(len(text), limit)]) }

// decided are the decisions about an object. Those about one that had no name yet may be.
func (c *Call) decided(of *protocol.RecordObject) (all []protocol.RecordDecision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.decisions {
		if d.about(of) {
			all = append(all, d.RecordDecision)
		}
	}
	return all
}

func (d decision) about(of *protocol.RecordObject) bool {
	inside := d.namespace == of.Namespace || d.resource == "namespaces" // which are requested as if they were within themselves
	return d.resource == of.Resource && inside && (d.name == of.Name || d.name == "")
}

// again forgets the decisions about an object: the server tries to write it once more, and asks for them anew.
func again(ctx context.Context, of *protocol.RecordObject) {
	if call := callOf(ctx); call != nil {
		call.mu.Lock()
		defer call.mu.Unlock()
		call.decisions = slices.DeleteFunc(call.decisions, func(d decision) bool { return d.about(of) })
	}
}

// Written is who wrote a revision.
type Written struct {
	By        *protocol.RecordAuthor // nil: no client
	Decisions []protocol.RecordDecision
}

// Calls knows the requests of one API server.
type Calls struct {
	refused func(protocol.RecordEntry)
	now     func() int64

	mu         sync.Mutex
	last       int64              // number of the last call
	committing map[string][]int64 // writes under way by key: the store's revision when each began
	unsure     map[string]unsure  // writes that may have been committed after their end, by key
	written    map[int64]Written  // by revision
	oldest     []int64            // of those revisions, in the order in which they came
	gone       int64              // the newest revision that had no room
	wake       chan struct{}      // has an element after each write
	resources  resources
}

// unsure is when the last write of a key ended without an answer, and the store's revision when the first of them
// began.
type unsure struct {
	at    time.Time
	began int64
}

const (
	// maxWritten bounds the revisions that wait for their change: as many as the changes that wait in package etcd.
	maxWritten = 1 << 14
	// maxUnsure bounds the keys of writes without an answer, and unsureTime how long those may be committed.
	maxUnsure  = 1 << 10
	unsureTime = 10 * time.Second
)

// New returns calls. Refused is called with each write that the server refuses, and must not wait. Now is the store's
// revision.
func New(refused func(protocol.RecordEntry), now func() int64) *Calls {
	return &Calls{
		refused: refused, now: now, committing: map[string][]int64{}, unsure: map[string]unsure{}, written: map[int64]Written{},
		wake: make(chan struct{}, 1),
	}
}

// begin notes a request and returns it with its context.
func (c *Calls) begin(r *http.Request) (*Call, *http.Request) {
	call := &Call{
		agent: short(r.UserAgent(), maxWord), trace: short(r.Header.Get("Traceparent"), maxWord),
		apply: strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch"),
	}
	if writes(r) {
		call.manager = short(r.URL.Query().Get("fieldManager"), maxWord)
	}
	if call.manager == "" {
		// as upstream: managerOrUserAgent in k8s.io/apiserver/pkg/endpoints/handlers/create.go
		call.manager, _, _ = strings.Cut(call.agent, "/")
	}
	if outer := callOf(r.Context()); outer != nil {
		call.within = outer.id
	}
	c.mu.Lock()
	c.last++
	call.id = c.last
	c.mu.Unlock()
	return call, r.WithContext(context.WithValue(r.Context(), callKey{}, call))
}

// author describes who writes an object, as the server's chain knows it by now.
func author(ctx context.Context, of *protocol.RecordObject) (w Written) {
	w.By = &protocol.RecordAuthor{}
	if who, ok := request.UserFrom(ctx); ok {
		w.By.User = who.GetName()
	}
	if info, ok := request.RequestInfoFrom(ctx); ok {
		w.By.Verb, w.By.Subresource = info.Verb, info.Subresource
	}
	if call := callOf(ctx); call != nil {
		call.describe(w.By)
		w.Decisions = call.decided(of)
	}
	if *w.By == (protocol.RecordAuthor{}) {
		w.By = nil
	}
	return w
}

func (c *Call) describe(by *protocol.RecordAuthor) {
	by.Agent, by.Manager, by.Call, by.Within, by.Trace = c.agent, c.manager, c.id, c.within, c.trace
	if c.apply && by.Verb == "patch" {
		by.Verb = "apply"
	}
}

// enter notes that a write of a key may be committed from now on, which it returns as a revision of the store. Leave or
// withdraw must follow.
func (c *Calls) enter(key string) (began int64) {
	began = c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.committing[key] = append(c.committing[key], began)
	return began
}

// withdraw notes that a write is not committed.
func (c *Calls) withdraw(key string, began int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(key, began)
}

// end needs c.mu.
func (c *Calls) end(key string, began int64) {
	if i := slices.Index(c.committing[key], began); i >= 0 {
		c.committing[key] = slices.Delete(c.committing[key], i, i+1)
	}
	if len(c.committing[key]) == 0 {
		delete(c.committing, key)
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// leave notes the end of a write, and the revision that it returned. One from before it began is another write's: this
// one has changed nothing. Err is of the storage.
func (c *Calls) leave(key string, began, revision int64, by Written, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(key, began)
	switch {
	case err != nil && !refuses(err):
		c.prune()
		if u, ok := c.unsure[key]; ok {
			began = min(began, u.began)
		}
		c.unsure[key] = unsure{time.Now(), began}
	case revision > began:
		if _, two := c.written[revision]; two { // one of them has changed nothing: which is not known
			by = Written{By: &protocol.RecordAuthor{Unknown: true}}
		}
		c.written[revision] = by
		if c.oldest = append(c.oldest, revision); len(c.oldest) > maxWritten {
			c.forget()
		}
	}
}

// refuses reports whether an error of a storage says that nothing was written. Others, such as that of a client which
// has gone, come before or after a commit.
func refuses(err error) bool {
	e, ok := errors.AsType[*storage.StorageError](err)
	return ok && e.Code != storage.ErrCodeUnreachable
}

// prune needs c.mu.
func (c *Calls) prune() {
	for key, u := range c.unsure {
		if len(c.unsure) >= maxUnsure || time.Since(u.at) > unsureTime {
			delete(c.unsure, key)
		}
	}
}

// forget forgets the oldest revision. It needs c.mu.
func (c *Calls) forget() {
	if _, waits := c.written[c.oldest[0]]; waits {
		c.gone = max(c.gone, c.oldest[0])
		delete(c.written, c.oldest[0])
	}
	c.oldest = c.oldest[1:]
}

// Written returns who wrote a revision of a key, once. A write that is under way since before may be the one: Written
// waits for it, at most for the limit, after which it is not known. One goroutine may call it, with growing revisions.
func (c *Calls) Written(key string, revision int64, limit time.Duration) (w Written, known bool) {
	var timer <-chan time.Time
	for {
		c.mu.Lock()
		w, known = c.written[revision]
		delete(c.written, revision)
		for len(c.oldest) > 0 && c.oldest[0] <= revision { // their changes have come, or never do
			delete(c.written, c.oldest[0])
			c.oldest = c.oldest[1:]
		}
		before := func(began int64) bool { return began < revision }
		under := slices.ContainsFunc(c.committing[key], before)
		u, unsure := c.unsure[key]
		unsure = unsure && before(u.began) && time.Since(u.at) < unsureTime
		lost := unsure || revision <= c.gone
		c.mu.Unlock()
		switch {
		case known && w.By != nil && w.By.Unknown:
			return w, false
		case known:
			return w, true
		case !under:
			return w, !lost
		}
		if timer == nil {
			timer = time.After(limit)
		}
		select {
		case <-c.wake:
		case <-timer:
			return w, false
		}
	}
}
