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
	"github.com/slipway-dev/slipway/cluster/journal"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// Store is what is followed: an [*etcd.Server].
type Store interface {
	Revision() int64
	Follow(ctx context.Context, prefix string, from int64, begun func(ask func()), each func(etcd.Change)) error
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
	// Problem is called if there is no record, or if something is missing in it. May be nil.
	Problem func(error)
}

const (
	maxNotes     = 1 << 13 // that wait
	maxNoteBytes = 4 << 20 // of their texts
	noteCost     = 256     // of a note besides its texts, in bytes
	maxBatch     = 256     // entries that are written at once
	// authorLimit is how long a change waits for a write under way.
	authorLimit = time.Second
	// closeLimit is how long the end of a cluster waits for what is not written yet.
	closeLimit = 200 * time.Millisecond
	// askInterval is how often the store is asked how far its changes have come, while a note waits for them.
	askInterval = 5 * time.Millisecond
	// pause is how long it takes to follow the store again when that has ended.
	pause = time.Second
)

// ErrOpening says that the record is not open yet.
var ErrOpening = errors.New("the record is being opened")

// errClosing says that all is written, and the cluster ends.
var errClosing = errors.New("the record is being closed")

// Recorder writes one record.
type Recorder struct {
	options Options
	began   int64 // revision of the store
	changes chan etcd.Change
	notes   chan note
	waiting atomic.Int64 // bytes of notes
	missed  atomic.Int64
	useless atomic.Bool // there is no record
	close   func()
	closing chan struct{}
	life    context.Context
	stop    context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	history *history.Record
	err     error
	resets  []*span

	// The rest is for the goroutine that writes.

	toJSON  func([]byte) ([]byte, error)
	values  conceal.Values
	full    bool      // not all values have room
	learned time.Time // when the values of all Secrets were
	before  cache
	batch   []history.Item
	kinds   map[kind]string // resources
	handled int64           // all changes up to this revision are in the batch or written
	held    []note          // they wait for the changes that were there when they came
}

// note is an entry besides changes.
type note struct {
	item     history.Item
	revision int64 // of the store when it came
	size     int64
}

// kind is one of a group, in any version.
type kind struct{ group, name string }

// span are the revisions of a reset.
type span struct{ after, last int64 }

// Start begins to record what is written to the store from now on.
func Start(o Options) *Recorder {
	r := &Recorder{
		options: o, began: o.Store.Revision(), changes: make(chan etcd.Change), notes: make(chan note, maxNotes), closing: make(chan struct{}),
		done: make(chan struct{}), err: ErrOpening, toJSON: journal.Decoder(), kinds: map[kind]string{},
	}
	r.close = sync.OnceFunc(func() { close(r.closing) })
	r.life, r.stop = context.WithCancel(context.Background())
	go func() {
		defer close(r.done)
		r.run()
	}()
	return r
}

// History is the record, or why there is none.
func (r *Recorder) History() (*history.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.history, r.err
}

// Note adds an entry. It does not wait. The entry is written behind the changes that there are: a text may quote a
// Secret.
func (r *Recorder) Note(item history.Item) {
	if r.useless.Load() {
		return
	}
	n := note{item, 0, noteCost}
	names, texts := history.Texts(&n.item.Entry)
	for _, text := range append(names, texts...) {
		n.size += int64(len(*text))
	}
	if r.waiting.Add(n.size) <= maxNoteBytes {
		select {
		case r.notes <- n:
			return
		default:
		}
	}
	r.waiting.Add(-n.size)
	r.missed.Add(1)
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
	r.close()
	select {
	case <-r.done:
	case <-time.After(closeLimit):
	}
	r.stop()
	<-r.done
}

// run opens the record and writes it until its life ends.
func (r *Recorder) run() {
	opened, err := history.Open(r.options.Dir, r.options.Limit, journal.Decoder())
	r.mu.Lock()
	r.history, r.err = opened, err
	r.mu.Unlock()
	if err != nil {
		r.useless.Store(true)
		r.problem(fmt.Errorf("this cluster has no record: %w", err))
		return
	}
	defer opened.Close()
	defer r.end()
	from := r.from(opened)
	opened.Put(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordMarker, Type: "began", Revision: r.began}})
	for {
		r.handled = from - 1
		err := r.follow(from)
		r.flush()
		if errors.Is(err, errClosing) || r.life.Err() != nil {
			return
		}
		select {
		case <-r.closing:
			return
		case <-time.After(pause):
		}
		from = r.options.Store.Revision() + 1
		r.lost(from-1-r.handled, err)
	}
}

// end writes what waits.
func (r *Recorder) end() {
	r.useless.Store(true)
	r.takeMore()
	r.release(false)
	r.flush()
	r.releaseUnread()
	r.history.Miss(len(r.notes), "the cluster has ended")
}

// releaseUnread writes notes whose changes will not come. They may quote a Secret that is not known, so sizes are left
// of their texts.
func (r *Recorder) releaseUnread() {
	full := r.full
	r.full = true
	r.release(true)
	r.flush()
	r.full = full
}

// lost goes on behind revisions whose changes are not known.
func (r *Recorder) lost(revisions int64, why error) {
	r.releaseUnread()
	r.before = cache{}
	if revisions > 0 {
		r.history.Miss(int(revisions), why.Error())
		r.problem(fmt.Errorf("the record of this cluster has a gap: %w", why))
	}
}

func (r *Recorder) problem(err error) {
	if r.options.Problem != nil {
		r.options.Problem(err)
	}
}

// follow records changes from a revision on, and notes, until the store has no more of them.
func (r *Recorder) follow(from int64) error {
	life, cancel := context.WithCancel(r.life)
	if err := r.learnSecrets(life); err != nil {
		cancel()
		return err
	}
	followed, asks := make(chan error, 1), make(chan func(), 1)
	var ended sync.WaitGroup
	ended.Go(func() {
		followed <- r.options.Store.Follow(life, r.options.Prefix+"/", from, func(ask func()) { asks <- ask }, func(c etcd.Change) {
			select {
			case r.changes <- c:
			case <-life.Done():
			}
		})
	})
	defer ended.Wait()
	defer cancel()
	ask, closing, last := func() {}, r.closing, int64(0)
	for {
		var again <-chan time.Time
		if len(r.held) > 0 || last > r.handled {
			ask()
			again = time.After(askInterval)
		}
		select {
		case ask = <-asks:
		case c := <-r.changes:
			r.take(c)
		case n := <-r.notes:
			r.hold(n)
		case <-again:
		case <-closing:
			closing, last = nil, r.options.Store.Revision()
		case err := <-followed:
			return err
		}
		r.takeMore()
		r.release(false)
		r.flush()
		if closing == nil && r.handled >= last && len(r.held) == 0 {
			return errClosing
		}
	}
}

// hold keeps a note until the changes that there are by now are handled, which may be more than when it came.
func (r *Recorder) hold(n note) {
	n.revision = r.options.Store.Revision()
	r.held = append(r.held, n)
}

// takeMore takes what has come meanwhile.
func (r *Recorder) takeMore() {
	for len(r.batch) < maxBatch {
		select {
		case c := <-r.changes:
			r.take(c)
		case n := <-r.notes:
			r.hold(n)
		default:
			return
		}
	}
}

// take takes a change, or how far changes have come.
func (r *Recorder) take(c etcd.Change) {
	if len(c.Key) == 0 {
		r.handled = max(r.handled, c.Revision)
		return
	}
	items := r.change(c) // which may flush
	r.batch = append(r.batch, items...)
	r.handled = max(r.handled, c.Revision-1) // there may be more changes in this one
}

// release takes notes whose changes are handled, or all.
func (r *Recorder) release(all bool) {
	for len(r.held) > 0 && (all || r.held[0].revision <= r.handled) {
		r.batch = append(r.batch, r.held[0].item)
		r.waiting.Add(-r.held[0].size)
		r.held = r.held[1:]
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

// flush puts what was made of changes and notes into the record. Nothing else does: so no value of a Secret passes.
func (r *Recorder) flush() {
	if missed := r.missed.Swap(0); missed > 0 {
		r.history.Miss(int(missed), "too many entries at once")
	}
	if r.full && len(r.batch) > 0 && time.Since(r.learned) > learnInterval {
		r.values.Turn()
		if err := r.learnSecrets(r.life); err != nil {
			r.full, r.learned = true, time.Now()
		}
	}
	for i := range r.batch {
		r.hide(&r.batch[i])
	}
	r.history.Put(r.batch...)
	r.batch = nil
}

// hide hides values of Secrets in all texts. If not all values are known, of texts their sizes are left.
func (r *Recorder) hide(item *history.Item) {
	_, texts := history.Texts(&item.Entry)
	for _, text := range texts {
		switch {
		case *text == "":
		case r.full:
			*text = fmt.Sprintf("%d bytes", len(*text))
		default:
			*text = r.values.Text(*text)
		}
	}
	if r.full && item.Delta != nil {
		item.Delta, item.Entry.Unread = nil, "there are too many values of Secrets to hide them"
	}
}
