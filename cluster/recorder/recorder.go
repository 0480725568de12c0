// Package recorder writes the record of one cluster: changes from its etcd in their order, joined with their authors,
// and what others note besides.
//
//	r := recorder.Start(recorder.Options{Dir: dir, Store: store, Prefix: "/registry", Calls: calls, …})
//	r.Note(history.Item{…})
//	h, err := r.History()
//	r.Close()
//
// No request waits for it: what it has no room for is counted, and the record has a gap there.
package recorder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slipway-dev/slipway/cluster/authorship"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/history"
	"github.com/slipway-dev/slipway/cluster/history/conceal"
	"github.com/slipway-dev/slipway/cluster/history/delta"
	"github.com/slipway-dev/slipway/cluster/journal"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// Store is what is followed: an [*etcd.Server].
type Store interface {
	Revision() int64
	Follow(ctx context.Context, prefix string, from int64, begun func(), each func(etcd.Change)) error
	At(ctx context.Context, key []byte, revision int64) ([]byte, error)
	Read(ctx context.Context, prefix string) (etcd.Snapshot, error)
}

// Authors is what knows who writes: an [*authorship.Calls].
type Authors interface {
	Written(key string, revision int64, limit time.Duration) (authorship.Written, bool)
	Object(key string) *protocol.RecordObject
}

// Options says what is recorded, and where.
type Options struct {
	Dir    string // of the record; its parent exists
	Limit  int64  // of the record, in bytes
	Store  Store
	Prefix string // of the cluster's keys
	Calls  Authors
	Resume bool // the store outlives the process: what it has had since the last entry is recorded, too
	// Problem is called if there is no record. May be nil.
	Problem func(error)
}

const (
	maxNotes = 1 << 13 // that wait
	maxBatch = 256     // entries that are written at once
	// authorLimit is how long a change waits for a write under way.
	authorLimit = time.Second
	// closeLimit is how long the end of a cluster waits for what is not written yet.
	closeLimit = 100 * time.Millisecond
	// settleTime is how long the last changes take from the store to here.
	settleTime = 10 * time.Millisecond
)

// ErrOpening says that the record is not open yet.
var ErrOpening = errors.New("the record is being opened")

// Recorder writes one record.
type Recorder struct {
	options Options
	began   int64 // revision of the store
	changes chan etcd.Change
	notes   chan history.Item
	missed  atomic.Int64
	stop    context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	history *history.Record
	err     error
	resets  []*span

	// The rest is for the goroutine that writes.

	toJSON func([]byte) ([]byte, error)
	values conceal.Values
	before cache
	batch  []history.Item
	kinds  map[kind]string // resources
}

// kind is one of a group, in any version.
type kind struct{ group, name string }

// span are the revisions of a reset.
type span struct{ after, last int64 }

// Start begins to record what is written to the store from now on.
func Start(o Options) *Recorder {
	life, stop := context.WithCancel(context.Background())
	r := &Recorder{
		options: o, began: o.Store.Revision(), changes: make(chan etcd.Change), notes: make(chan history.Item, maxNotes),
		stop: stop, done: make(chan struct{}), err: ErrOpening, toJSON: journal.Decoder(), kinds: map[kind]string{},
	}
	go func() {
		defer close(r.done)
		r.run(life)
	}()
	return r
}

// History is the record, or why there is none.
func (r *Recorder) History() (*history.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.history, r.err
}

// Note adds an entry. It does not wait.
func (r *Recorder) Note(item history.Item) {
	if item.Entry.At.IsZero() {
		item.Entry.At = time.Now()
	}
	select {
	case r.notes <- item:
	default:
		r.missed.Add(1)
	}
}

// Mark adds a marker of the cluster's life.
func (r *Recorder) Mark(what string, revision int64) {
	r.Note(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordMarker, Type: what, Revision: revision}})
}

// Resetting marks the writes of a reset. The function that it returns is called with the revision of the last one.
func (r *Recorder) Resetting() (done func(last int64)) {
	now := r.options.Store.Revision()
	r.Mark("resetting", now)
	r.mu.Lock()
	defer r.mu.Unlock()
	reset := &span{now, 0}
	r.resets = append(r.resets[max(0, len(r.resets)-maxResets):], reset)
	return func(last int64) {
		r.mu.Lock()
		reset.last = last
		r.mu.Unlock()
		r.Mark("reset", last)
	}
}

// maxResets bounds the resets whose changes may still come.
const maxResets = 8

// byReset reports whether a revision is one of a reset.
func (r *Recorder) byReset(revision int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.resets {
		if revision > s.after && (s.last == 0 || revision <= s.last) {
			return true
		}
	}
	return false
}

// Close writes what waits, for a moment, and closes the record.
func (r *Recorder) Close() {
	timer := time.NewTimer(closeLimit)
	defer timer.Stop()
	time.Sleep(settleTime)
	r.stop()
	select {
	case <-r.done:
	case <-timer.C:
	}
}

// run opens the record and writes it until its life ends.
func (r *Recorder) run(life context.Context) {
	opened, err := history.Open(r.options.Dir, r.options.Limit, journal.Decoder())
	r.mu.Lock()
	r.history, r.err = opened, err
	r.mu.Unlock()
	if err != nil {
		if r.options.Problem != nil {
			r.options.Problem(fmt.Errorf("this cluster has no record: %w", err))
		}
		return
	}
	defer opened.Close()
	from := r.from(opened)
	opened.Put(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordMarker, Type: "began", Revision: r.began}})
	r.learnSecrets(life)
	followed := make(chan error, 1)
	follow := func(from int64) {
		followed <- r.options.Store.Follow(life, r.options.Prefix+"/", from, func() {}, func(c etcd.Change) {
			select {
			case r.changes <- c:
			case <-life.Done():
			}
		})
	}
	go follow(from)
	for {
		select {
		case c := <-r.changes:
			r.write(&c, nil)
		case n := <-r.notes:
			r.write(nil, &n)
		case err := <-followed:
			if life.Err() != nil || !errors.Is(err, etcd.ErrBehind) {
				r.drain()
				return
			}
			opened.Miss(1, err.Error()) // how many is not known
			go follow(0)
		case <-life.Done():
			r.drain()
			return
		}
	}
}

// from is the revision to begin with.
func (r *Recorder) from(h *history.Record) int64 {
	if !r.options.Resume {
		return r.began + 1
	}
	for _, e := range h.Read(protocol.RecordQuery{Kinds: []string{protocol.RecordWrite, protocol.RecordMarker}}).Entries {
		if e.Revision != 0 {
			if e.Revision < r.began && r.began-e.Revision < maxCatchUp {
				return e.Revision + 1
			}
			break
		}
	}
	return r.began + 1
}

// maxCatchUp bounds the revisions from before a start that are recorded then.
const maxCatchUp = 10_000

// drain writes the notes that wait.
func (r *Recorder) drain() {
	for {
		select {
		case n := <-r.notes:
			r.write(nil, &n)
		default:
			return
		}
	}
}

// write writes a change or a note, and what comes meanwhile, as long as more is waiting.
func (r *Recorder) write(c *etcd.Change, n *history.Item) {
	for {
		switch {
		case c != nil:
			items := r.change(*c) // which may flush
			r.batch = append(r.batch, items...)
		case n != nil:
			r.batch = append(r.batch, r.hide(*n))
		}
		c, n = nil, nil
		if len(r.batch) < maxBatch {
			select {
			case next := <-r.changes:
				c = &next
				continue
			case next := <-r.notes:
				n = &next
				continue
			default:
			}
		}
		r.flush()
		return
	}
}

// flush puts what was made of changes and notes into the record.
func (r *Recorder) flush() {
	if missed := r.missed.Swap(0); missed > 0 {
		r.history.Miss(int(missed), "too many entries at once")
	}
	r.history.Put(r.batch...)
	r.batch = nil
}

// hide hides values of Secrets in the texts of a note.
func (r *Recorder) hide(item history.Item) history.Item {
	e := &item.Entry
	e.Message, e.Reason, e.Path = r.values.Text(e.Message), r.values.Text(e.Reason), r.values.Text(e.Path)
	for i, d := range e.Decisions {
		d.Text = r.values.Text(d.Text)
		e.Decisions[i] = d
	}
	return item
}

// cache has the objects that were written last, within a number of bytes.
type cache struct {
	objects map[string]*delta.Object
	bytes   int
}

const maxCache = 8 << 20

// swap puts an object into the place of the one before, which it returns; nil removes it.
func (c *cache) swap(key string, o *delta.Object) *delta.Object {
	if c.objects == nil {
		c.objects = map[string]*delta.Object{}
	}
	before := c.objects[key]
	if before != nil {
		c.bytes -= before.Size + len(key)
		delete(c.objects, key)
	}
	if o == nil || o.Size > maxCache {
		return before
	}
	c.bytes += o.Size + len(key)
	c.objects[key] = o
	for other, old := range c.objects { // any will do
		if c.bytes <= maxCache {
			break
		}
		if other != key {
			c.bytes -= old.Size + len(other)
			delete(c.objects, other)
		}
	}
	return before
}
