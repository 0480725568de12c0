package dashboard

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/protocol"
)

const (
	// beat is how often a stream brings something, so that a lost connection is noticed.
	beat = 15 * time.Second
	// gathering is how long what comes is put into one line.
	gathering = 100 * time.Millisecond
	// mostInLine bounds the objects and the entries of a line, and mostWaiting the entries that wait.
	mostInLine  = 500
	mostWaiting = 5000
)

// stream writes lines of JSON.
type stream struct {
	w    http.ResponseWriter
	to   *http.ResponseController
	json *json.Encoder
}

// open begins a stream, unless too many are open. Close must follow.
func (s *Server) open(w http.ResponseWriter) (*stream, bool) {
	select {
	case s.streams <- struct{}{}:
	default:
		refuse(w, http.StatusTooManyRequests, failure{Error: "too many tabs show this page", Next: "close some of them"})
		return nil, false
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	return &stream{w, http.NewResponseController(w), json.NewEncoder(w)}, true
}

func (s *Server) closeStream() { <-s.streams }

// line writes a line.
func (t *stream) line(value any) error {
	if err := t.to.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	if err := t.json.Encode(value); err != nil {
		return err
	}
	return t.to.Flush()
}

// objectLine is a line about objects.
type objectLine struct {
	Objects []Object `json:"objects,omitempty"`
	Gone    []string `json:"gone,omitempty"`
	Synced  bool     `json:"synced,omitempty"`
	// Unknown is all that cannot be read, and why, if that has changed.
	Unknown *[]string `json:"unknown,omitempty"`
}

// streamObjects sends all objects, and then what changes.
func (s *Server) streamObjects(of *subject, w http.ResponseWriter, r *http.Request) {
	t, ok := s.open(w)
	if !ok {
		return
	}
	defer s.closeStream()
	of.objects.begin(of.life)
	view := of.objects.view()
	if t.line(objectLine{}) != nil {
		return
	}
	for {
		line, is, more, ok := view.next()
		if !ok || is && t.line(line) != nil { // who was too slow begins anew
			return
		}
		if is {
			continue
		}
		select {
		case <-more:
			select {
			case <-time.After(gathering):
			case <-r.Context().Done():
				return
			}
		case <-of.life.Done(): // the browser begins anew, with what is shown instead
			return
		case <-time.After(beat):
			if t.line(objectLine{}) != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// streamRecord sends what comes to the record.
func (s *Server) streamRecord(of *subject, w http.ResponseWriter, r *http.Request) {
	if of.Record == nil {
		refuse(w, http.StatusNotFound, failure{Error: "the cluster keeps no record: " + of.About.Unrecorded})
		return
	}
	t, ok := s.open(w)
	if !ok {
		return
	}
	defer s.closeStream()
	ctx, cancel := context.WithCancel(r.Context())
	entries, ended := make(chan explain.Deed, mostWaiting), make(chan struct{})
	go func() {
		defer close(ended)
		_ = of.Record.FollowRecord(ctx, protocol.RecordQuery{}, func(e protocol.RecordEntry) error {
			select {
			case entries <- explain.Alone(e):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}) // the stream ends with it
	}()
	defer func() { cancel(); <-ended }()
	if t.line(struct{}{}) != nil {
		return
	}
	for {
		select {
		case first := <-entries:
			if t.line(map[string][]explain.Deed{"entries": gather(entries, first)}) != nil {
				return
			}
		case <-time.After(beat):
			if t.line(struct{}{}) != nil {
				return
			}
		case <-ended:
			return
		case <-of.life.Done():
			return
		case <-r.Context().Done():
			return
		}
	}
}

// gather takes what comes within a moment.
func gather(entries <-chan explain.Deed, first explain.Deed) []explain.Deed {
	all := []explain.Deed{first}
	for end := time.After(gathering); len(all) < mostInLine; {
		select {
		case e := <-entries:
			all = append(all, e)
		case <-end:
			return all
		}
	}
	return all
}
