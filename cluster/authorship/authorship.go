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
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

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
	decisions []protocol.RecordDecision
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
func decide(ctx context.Context, d protocol.RecordDecision) {
	call := callOf(ctx)
	if call == nil {
		return
	}
	d.Text = d.Text[:min(len(d.Text), maxText)]
	call.mu.Lock()
	defer call.mu.Unlock()
	if len(call.decisions) < maxDecisions {
		call.decisions = append(call.decisions, d)
	}
}

const (
	maxText      = 1 << 10 // of a decision, in bytes
	maxDecisions = 16      // of a request
)

func (c *Call) decided() []protocol.RecordDecision {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.decisions
}

// Written is who wrote a revision.
type Written struct {
	By        *protocol.RecordAuthor // nil: no client
	Decisions []protocol.RecordDecision
}

// Calls knows the requests of one API server.
type Calls struct {
	refused func(protocol.RecordEntry)

	mu         sync.Mutex
	last       int64             // number of the last call
	committing map[string]int    // writes under way, by key
	written    map[int64]Written // by revision
	oldest     []int64           // of those revisions, in the order in which they came
	wake       chan struct{}     // has an element after each write
	resources  resources
}

// maxWritten bounds the revisions that wait for their change. Those of other prefixes of an etcd never come.
const maxWritten = 1 << 12

// New returns calls. Refused is called with each write that the server refuses. It must not wait.
func New(refused func(protocol.RecordEntry)) *Calls {
	return &Calls{refused: refused, committing: map[string]int{}, written: map[int64]Written{}, wake: make(chan struct{}, 1)}
}

// begin notes a request and returns it with its context.
func (c *Calls) begin(r *http.Request) (*Call, *http.Request) {
	call := &Call{
		agent: r.UserAgent(), trace: r.Header.Get("Traceparent"), manager: fieldManager(r.URL.RawQuery),
		apply: strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch"),
	}
	if call.manager == "" {
		call.manager, _, _ = strings.Cut(call.agent, "/") // as upstream: managerOrUserAgent in endpoints/handlers/create.go
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

// fieldManager is the parameter of that name, which needs no escapes.
func fieldManager(query string) string {
	for part := range strings.SplitSeq(query, "&") {
		if value, ok := strings.CutPrefix(part, "fieldManager="); ok {
			return value
		}
	}
	return ""
}

// author describes who makes a request, as the server's chain knows it by now.
func author(ctx context.Context) (w Written) {
	w.By = &protocol.RecordAuthor{}
	if who, ok := request.UserFrom(ctx); ok {
		w.By.User = who.GetName()
	}
	if info, ok := request.RequestInfoFrom(ctx); ok {
		w.By.Verb, w.By.Subresource = info.Verb, info.Subresource
	}
	if call := callOf(ctx); call != nil {
		call.describe(w.By)
		w.Decisions = call.decided()
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

// enter notes that a write of a key may be committed from now on. Leave must follow.
func (c *Calls) enter(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.committing[key]++
}

// leave notes the end of a write, and its revision, 0 if it had no effect.
func (c *Calls) leave(key string, revision int64, by Written) {
	c.mu.Lock()
	if c.committing[key]--; c.committing[key] == 0 {
		delete(c.committing, key)
	}
	if revision != 0 {
		c.written[revision] = by
		if c.oldest = append(c.oldest, revision); len(c.oldest) > maxWritten {
			delete(c.written, c.oldest[0])
			c.oldest = c.oldest[1:]
		}
	}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Written returns who wrote a revision of a key, once. A write that is under way may be the one: Written waits for it,
// at most for the limit, after which it is not known. One goroutine may call it.
func (c *Calls) Written(key string, revision int64, limit time.Duration) (w Written, known bool) {
	var timer <-chan time.Time
	for {
		c.mu.Lock()
		w, known = c.written[revision]
		delete(c.written, revision)
		under := c.committing[key] > 0
		c.mu.Unlock()
		if known || !under {
			return w, true
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
