package history

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/cluster/history/delta"
	"github.com/slipway-dev/slipway/cluster/history/ring"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

const (
	// maxPage bounds the entries of a page, and maxBytes their size.
	maxPage  = 200
	maxBytes = 512 << 10
	// pageTime bounds the work on a page. A page that ends for that reason says how far it got.
	pageTime = 60 * time.Millisecond
)

// Read answers a question with a page. Entries come newest first or, behind q.After, oldest first. Markers and gaps are
// among them whatever the question, unless q.Kinds leaves them out.
func (r *Record) Read(q protocol.RecordQuery) protocol.RecordPage {
	page := protocol.RecordPage{Entries: []protocol.RecordEntry{}}
	limit := maxPage
	if q.Limit > 0 {
		limit = min(limit, q.Limit)
	}
	deadline, last := time.Now().Add(pageTime), r.Last()
	size := 0
	if gap, ok := r.dropped(q); ok {
		page.Entries = append(page.Entries, gap)
	}
	for f := range r.frames(q) {
		if q.After == nil && f.At.Before(q.Since) || q.After != nil && f.Seq > last {
			return page
		}
		page.SearchedTo = f.At
		if e, ok := r.match(f, q); ok {
			size += sizeOf(f, e)
			page.Entries = append(page.Entries, e)
		}
		if len(page.Entries) >= limit || size > maxBytes || time.Now().After(deadline) {
			page.Next = f.Seq
			return page
		}
	}
	return page
}

// dropped is a gap in place of what has made room since the entry q.After.
func (r *Record) dropped(q protocol.RecordQuery) (gap protocol.RecordEntry, ok bool) {
	if q.After == nil || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, protocol.RecordGap) {
		return gap, false
	}
	gap = protocol.RecordEntry{Seq: *q.After, Kind: protocol.RecordGap, Reason: "older entries have made room"}
	for i, of := range r.rings {
		if first, at, dropped := of.Dropped(*q.After); dropped && wants(q.Kinds, i) {
			gap.At, gap.Missed, ok = at.UTC(), max(gap.Missed, int(first-*q.After-1)), true
		}
	}
	return gap, ok
}

func sizeOf(f ring.Frame, e protocol.RecordEntry) int {
	size := len(f.Payload)
	for _, c := range e.Changes {
		size += len(c.Path) + len(c.Before) + len(c.After)
	}
	return size
}

// frames are those among which a question finds its entries, in order.
func (r *Record) frames(q protocol.RecordQuery) iter.Seq[ring.Frame] {
	var all []iter.Seq[ring.Frame]
	t := thread(q)
	for i, of := range r.rings {
		if !wants(q.Kinds, i) {
			continue
		}
		if q.After != nil {
			all = append(all, of.From(*q.After))
			continue
		}
		all = append(all, of.Newest(t, q.Before))
		if i == 0 && t != 0 {
			all = append(all, of.Newest(markers, q.Before))
		}
	}
	return merge(all, q.After != nil)
}

// wants reports whether a question is about a ring.
func wants(asked []string, of int) bool {
	return len(asked) == 0 || slices.ContainsFunc(asked, func(kind string) bool {
		return (slices.Index(kinds, kind) >= firstTraffic) == (of == 1)
	})
}

// thread is the one that leads to the entries, 0 if none does.
func thread(q protocol.RecordQuery) ring.Thread {
	switch {
	case q.Object != nil:
		return objectThread(q.Object)
	case q.Owner != "":
		return ownerThread(q.Owner)
	case q.Reconcile != "":
		return reconcileThread(q.Reconcile)
	case q.Operator != "":
		return operatorThread(q.Operator)
	case q.Refused:
		return refused
	case q.User != "":
		return userThread(q.User)
	}
	return 0
}

// merge joins what is in order, without repetitions.
func merge(all []iter.Seq[ring.Frame], oldestFirst bool) iter.Seq[ring.Frame] {
	return func(yield func(ring.Frame) bool) {
		type source struct {
			frame ring.Frame
			next  func() (ring.Frame, bool)
		}
		var sources []*source
		for _, one := range all {
			next, stop := iter.Pull(one)
			defer stop()
			if f, ok := next(); ok {
				sources = append(sources, &source{f, next})
			}
		}
		for len(sources) > 0 {
			first := slices.MinFunc(sources, func(a, b *source) int {
				if (a.frame.Seq < b.frame.Seq) == oldestFirst {
					return -1
				}
				return 1
			})
			if !yield(first.frame) {
				return
			}
			var ok bool
			if first.frame, ok = first.next(); !ok {
				sources = slices.DeleteFunc(sources, func(s *source) bool { return s == first })
			}
		}
	}
}

// match decodes a frame if the question is about it.
func (r *Record) match(f ring.Frame, q protocol.RecordQuery) (e protocol.RecordEntry, ok bool) {
	if int(f.Kind) >= len(kinds) || q.After != nil && f.At.Before(q.Since) {
		return e, false
	}
	kind := kinds[f.Kind]
	if len(q.Kinds) > 0 && !slices.Contains(q.Kinds, kind) {
		return e, false
	}
	head, body, ok := split(f.Payload)
	var s stored
	if !ok || json.Unmarshal(head, &s) != nil {
		return e, false
	}
	e = s.RecordEntry
	e.Seq, e.At, e.Kind = f.Seq, f.At.UTC(), kind
	if kind == protocol.RecordMarker || kind == protocol.RecordGap {
		return e, true
	}
	if !about(s, q) {
		return e, false
	}
	if len(body) > 0 {
		r.unfold(&e, body, q.Field)
	}
	return e, q.Field == "" || len(e.Changes) > 0 || e.Unread != "" || e.Type == Deleted
}

// split cuts a payload into the head of an entry and its delta.
func split(payload []byte) (head, body []byte, ok bool) {
	size, n := binary.Uvarint(payload)
	if n <= 0 || size > uint64(len(payload)-n) {
		return nil, nil, false
	}
	return payload[n:][:size], payload[n:][size:], true
}

// about reports whether a question is about an entry.
func about(s stored, q protocol.RecordQuery) bool {
	if q.Object != nil {
		o := s.Object
		if o == nil || o.Group != q.Object.Group || o.Resource != q.Object.Resource || o.Namespace != q.Object.Namespace || o.Name != q.Object.Name {
			return false
		}
	}
	return (q.Owner == "" || slices.Contains(s.Owners, q.Owner)) &&
		(q.Operator == "" || s.Operator == q.Operator) &&
		(q.Reconcile == "" || s.Reconcile == q.Reconcile) &&
		(q.User == "" || s.By != nil && s.By.User == q.User) &&
		(!q.Refused || s.Status >= firstRefused)
}

// The types of writes.
const (
	Created = "created"
	Updated = "updated"
	Deleted = "deleted"
)

func (r *Record) unfold(e *protocol.RecordEntry, body []byte, field string) {
	changes, more, err := delta.Changes(body, r.toJSON, field)
	if err != nil {
		e.Unread = err.Error()
		return
	}
	size := 0
	for i, c := range changes {
		if size += len(c.Path) + len(c.Before) + len(c.After); size > maxBytes/2 {
			more += len(changes) - i
			break
		}
		e.Changes = append(e.Changes, protocol.RecordChange(c))
	}
	e.MoreChanges = more
}

// Follow calls each for the entries that a question is about, oldest first, those behind q.After and then those to
// come, until each fails or ctx ends. Without q.After it begins with those to come.
func (r *Record) Follow(ctx context.Context, q protocol.RecordQuery, each func(protocol.RecordEntry) error) error {
	if q.After == nil {
		last := r.Last()
		q.After = &last
	}
	for {
		more, closed := r.more()
		if closed {
			return ErrClosed
		}
		searched := max(r.Last(), *q.After)
		for page := r.Read(q); ; page = r.Read(q) {
			for _, e := range page.Entries {
				if err := each(e); err != nil {
					return err
				}
				searched = max(searched, e.Seq)
			}
			if page.Next == 0 {
				break
			}
			q.After = &page.Next
		}
		q.After = &searched
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// more is closed at the next entry.
func (r *Record) more() (next <-chan struct{}, closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed, r.closed
}
