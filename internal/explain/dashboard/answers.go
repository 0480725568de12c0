package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

const (
	// patience bounds an answer.
	patience = 20 * time.Second
	// summed is how far back reconciles are looked for.
	summed = time.Hour
	// fresh is how old an answer about them may be.
	fresh = 2 * time.Second
	// mostEntries bounds the entries of a page of the record.
	mostEntries = 200
)

// subject is one that is shown.
type subject struct {
	Subject
	objects *objects
	life    context.Context
	end     context.CancelFunc

	mu   sync.Mutex
	sums explain.Work // the newest, for all tabs
	at   time.Time    // when they were made
}

func newSubject(life context.Context, of Subject) *subject {
	s := &subject{Subject: of, objects: newObjects(of.Cluster)}
	s.life, s.end = context.WithCancel(life)
	return s
}

func (s *subject) cluster(w http.ResponseWriter, _ *http.Request) { answer(w, s.About) }

// failed answers with an error.
func failed(w http.ResponseWriter, err error) {
	f := failure{Error: err.Error()}
	if e, is := errors.AsType[*report.Error](err); is {
		f = failure{e.Error(), e.Next}
	}
	status := http.StatusBadGateway
	if e, is := errors.AsType[*report.Error](err); errors.Is(err, explain.ErrNoReconcile) || is && e.Class == report.Refused {
		status = http.StatusNotFound
	}
	refuse(w, status, f)
}

// named is the object that a request is about.
func named(q url.Values) *protocol.RecordObject {
	of := schema.ParseGroupResource(q.Get("resource"))
	return &protocol.RecordObject{Group: of.Group, Resource: of.Resource, Namespace: q.Get("namespace"), Name: q.Get("name")}
}

func (s *subject) explain(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	q := r.URL.Query()
	var past explain.History
	if s.Record != nil {
		past = s.Record
	}
	found, err := explain.Explain(ctx, s.Cluster, past, explain.Question{Kind: q.Get("resource"), Namespace: q.Get("namespace"), Name: q.Get("name")})
	if err != nil {
		failed(w, err)
		return
	}
	answer(w, found)
}

// recorded answers from the record.
func (s *subject) recorded(w http.ResponseWriter, r *http.Request, ask func(context.Context) (any, error)) {
	if s.Record == nil {
		refuse(w, http.StatusNotFound, failure{"the cluster keeps no record: " + s.About.Unrecorded, "slipway cluster start"})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	found, err := ask(ctx)
	if err != nil {
		failed(w, err)
		return
	}
	answer(w, found)
}

func (s *subject) record(w http.ResponseWriter, r *http.Request) {
	in := r.URL.Query()
	q := protocol.RecordQuery{User: in.Get("user"), Refused: in.Get("refused") == "true", Limit: mostEntries}
	switch {
	case in.Get("resource") != "":
		q.Object = named(in)
	case in.Get("namespace")+in.Get("name") != "":
		refuse(w, http.StatusBadRequest, failure{Error: "an object needs its resource, too"})
		return
	}
	if kinds := in.Get("kinds"); kinds != "" {
		q.Kinds = strings.Split(kinds, ",")
	}
	if limit, err := strconv.Atoi(in.Get("limit")); err == nil && limit > 0 {
		q.Limit = min(limit, mostEntries)
	}
	if before := in.Get("before"); before != "" {
		number, err := strconv.ParseUint(before, 10, 64)
		if err != nil {
			refuse(w, http.StatusBadRequest, failure{Error: "before is not the number of an entry"})
			return
		}
		q.Before = number
	}
	s.recorded(w, r, func(ctx context.Context) (any, error) { return explain.Deeds(ctx, s.Record, q) })
}

func (s *subject) reconciles(w http.ResponseWriter, r *http.Request) {
	s.recorded(w, r, func(ctx context.Context) (any, error) {
		s.mu.Lock() // who asks meanwhile gets the same answer
		defer s.mu.Unlock()
		if time.Since(s.at) < fresh {
			return s.sums, nil
		}
		sums, err := explain.Reconciles(ctx, s.Record, time.Now().Add(-summed))
		if err == nil {
			s.sums, s.at = sums, time.Now()
		}
		return sums, err
	})
}

func (s *subject) reconcile(w http.ResponseWriter, r *http.Request) {
	s.recorded(w, r, func(ctx context.Context) (any, error) {
		found, deeds, err := explain.FindReconcile(ctx, s.Record, r.URL.Query().Get("id"))
		return struct {
			Reconcile explain.Reconcile `json:"reconcile"`
			Entries   []explain.Deed    `json:"entries"`
		}{found, deeds}, err
	})
}
