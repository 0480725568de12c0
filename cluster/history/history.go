// Package history keeps what happened in a cluster: who wrote which objects and what that changed, what was refused,
// what Events report, what an operator has requested, got and logged. The newest entries stay, within a limit of bytes.
//
//	r, err := history.Open(dir, 256<<20, toJSON)
//	r.Put(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordMarker, Type: "began"}})
//	page := r.Read(protocol.RecordQuery{Object: &protocol.RecordObject{Resource: "pods", Namespace: "default", Name: "web"}})
//
// Two rings share the limit, so that a talkative operator does not drive out the history of objects. One goroutine
// puts; any number may read. The package knows nothing of API servers.
package history

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/cluster/history/ring"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// MinSize is the smallest limit of a record, in bytes.
const MinSize = ring.MinSize * shares / trafficShare

// The shares of the rings in the limit.
const (
	shares       = 8
	trafficShare = 3
)

// ErrClosed says that the record was closed.
var ErrClosed = errors.New("the record is closed")

// kinds are in the order of their numbers on disk.
var kinds = []string{
	protocol.RecordWrite, protocol.RecordRefusal, protocol.RecordEvent, protocol.RecordMarker, protocol.RecordGap,
	protocol.RecordRequest, protocol.RecordDelivery, protocol.RecordLine,
}

// firstTraffic is the number of the first kind that is in the second ring.
var firstTraffic = slices.Index(kinds, protocol.RecordRequest)

// Item is an entry with what is kept beside it.
type Item struct {
	Entry  protocol.RecordEntry
	Owners []string // UIDs of the owners of its object
	Delta  []byte   // of a write: the changes as package delta keeps them
}

// Record is an open record.
type Record struct {
	limit  int64
	roots  []*os.Root
	rings  [2]*ring.Ring // changes, traffic
	toJSON func([]byte) ([]byte, error)
	last   uint64    // number of the newest entry
	at     time.Time // of that entry; times of later ones are not before it
	rest   time.Time // nothing is written before

	mu      sync.Mutex
	visible uint64        // number of the newest entry that is in its ring, with all before it
	changed chan struct{} // closed at the next entry
	missed  int64         // entries
	gap     int           // those of them that no entry reports yet
	problem string        // why, while there is one
	closed  bool
}

// Open opens the record in a folder, or begins it. No one else may have it open. ToJSON decodes objects in Kubernetes'
// envelope of protobuf.
func Open(dir string, limit int64, toJSON func([]byte) ([]byte, error)) (*Record, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("open the record: %w", err)
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return nil, errors.Join(fmt.Errorf("%w: %s", ring.ErrFolder, dir), err)
	}
	r := &Record{limit: max(limit, MinSize), toJSON: toJSON, changed: make(chan struct{})}
	for i, name := range []string{"changes", "traffic"} {
		if err := r.openRing(i, filepath.Join(dir, name)); err != nil {
			r.Close()
			return nil, err
		}
		r.last = max(r.last, r.rings[i].Last())
	}
	r.visible = r.last
	return r, nil
}

func (r *Record) openRing(i int, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("open the record: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the record: %w", err)
	}
	r.roots = append(r.roots, root)
	named, err := os.Lstat(dir)
	opened, err2 := root.Stat(".")
	if err := errors.Join(err, err2); err != nil || !os.SameFile(named, opened) { // it leads elsewhere
		return errors.Join(fmt.Errorf("%w: %s", ring.ErrFolder, dir), err)
	}
	share := r.limit / shares * trafficShare
	if i == 0 {
		share = r.limit - share
	}
	r.rings[i], err = ring.Open(root, share)
	return err
}

// stored is the head of an entry on disk. What a frame has besides is not in it.
type stored struct {
	protocol.RecordEntry
	Owners []string `json:"owners,omitempty"`
}

// Put writes entries, and gives them numbers and times. What cannot be written is missed, and the next entry that can
// is preceded by a gap.
func (r *Record) Put(items ...Item) {
	if len(items) == 0 {
		return
	}
	if time.Now().Before(r.rest) {
		r.Miss(len(items), r.Status().Problem)
		return
	}
	gap := r.takeGap()
	if gap.Missed > 0 {
		items = slices.Insert(slices.Clone(items), 0, Item{Entry: gap})
	}
	if now := time.Now(); now.After(r.at) { // a question about a time stops at the first entry before it
		r.at = now
	}
	var frames [2][]ring.Frame
	for _, item := range items {
		if i, f, ok := r.frame(item); ok {
			frames[i] = append(frames[i], f)
		}
	}
	for i, some := range frames {
		if err := r.rings[i].Append(some); err != nil {
			r.rest = time.Now().Add(pause)
			n := len(some)
			if gap.Missed > 0 && i == 0 { // it is the first of them
				n += gap.Missed - 1
				r.forget(gap.Missed)
			}
			r.Miss(n, err.Error())
		}
	}
	r.settle()
}

// pause is how long nothing is written after a failure.
const pause = time.Second

// takeGap is an entry about what is missing since the last one.
func (r *Record) takeGap() protocol.RecordEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	gap := protocol.RecordEntry{Kind: protocol.RecordGap, Missed: r.gap, Reason: r.problem}
	r.gap, r.problem = 0, ""
	return gap
}

// forget takes back entries that are missed for a second time.
func (r *Record) forget(missed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed -= int64(missed)
}

// settle makes the entries visible, and wakes who waits.
func (r *Record) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.visible = r.last
	close(r.changed)
	r.changed = make(chan struct{})
}

// frame encodes an item for one of the rings.
func (r *Record) frame(item Item) (i int, f ring.Frame, ok bool) {
	e := item.Entry
	number := slices.Index(kinds, e.Kind)
	item.Owners = slices.Clone(item.Owners[:min(len(item.Owners), maxOwners)])
	shorten(&e, item.Owners)
	r.last++
	f = ring.Frame{Seq: r.last, At: r.at, Kind: byte(number), Threads: threads(e, item.Owners)}
	e.Seq, e.At, e.Kind = 0, time.Time{}, ""
	if year := e.Logged.UTC().Year(); year < 1 || year > maxYear {
		e.Logged = time.Time{} // cannot be JSON
	}
	head, err := json.Marshal(stored{e, item.Owners})
	fits := func() bool { return len(head)+len(item.Delta)+binary.MaxVarintLen64 <= ring.MaxPayload }
	if !fits() { // texts of control characters, for example
		e.Message, e.Decisions, e.Keys = "", nil, nil
		head, err = json.Marshal(stored{e, item.Owners})
	}
	if !fits() {
		e.Unread, item.Delta = "too large to be kept", nil
		head, err = json.Marshal(stored{e, item.Owners})
	}
	if err != nil || number < 0 || len(head)+binary.MaxVarintLen64 > ring.MaxPayload {
		return 0, f, false // nothing that is put is so
	}
	f.Payload = append(append(binary.AppendUvarint(nil, uint64(len(head))), head...), item.Delta...)
	if number >= firstTraffic {
		i = 1
	}
	return i, f, true
}

// threads are what an entry is asked for by.
func threads(e protocol.RecordEntry, owners []string) (all []ring.Thread) {
	if e.Kind == protocol.RecordMarker || e.Kind == protocol.RecordGap {
		return []ring.Thread{markers}
	}
	if e.Object != nil {
		all = append(all, objectThread(e.Object))
	}
	if e.By != nil && e.By.User != "" {
		all = append(all, userThread(e.By.User))
	}
	if e.Operator != "" {
		all = append(all, operatorThread(e.Operator))
	}
	if e.Reconcile != "" {
		all = append(all, reconcileThread(e.Reconcile))
	}
	if e.Status >= firstRefused {
		all = append(all, refused)
	}
	for _, uid := range owners {
		all = append(all, ownerThread(uid))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

const (
	// firstRefused is the first status of a request that was refused.
	firstRefused = 400
	// maxOwners bounds the owners that are kept.
	maxOwners = 8
	// maxYear is the last one that JSON can have.
	maxYear = 9999
)

var (
	markers = ring.ThreadOf("marker")
	refused = ring.ThreadOf("refused")
)

func objectThread(o *protocol.RecordObject) ring.Thread {
	return ring.ThreadOf("object", o.Group, o.Resource, o.Namespace, o.Name)
}
func userThread(name string) ring.Thread     { return ring.ThreadOf("user", name) }
func operatorThread(name string) ring.Thread { return ring.ThreadOf("operator", name) }
func reconcileThread(id string) ring.Thread  { return ring.ThreadOf("reconcile", id) }
func ownerThread(uid string) ring.Thread     { return ring.ThreadOf("owner", uid) }

const (
	maxText = 8000 // of a message, in bytes
	maxName = 400  // of any other text
	// maxDecisions bounds those of one entry, and maxKeys the keys of a Secret.
	maxDecisions = 16
	maxKeys      = 64
)

// Texts gives an entry memory of its own, and returns where its texts are. Other than names, texts have what a client
// may have written into them.
func Texts(e *protocol.RecordEntry) (names, texts []*string) {
	names = []*string{&e.Type, &e.Operator}
	texts = []*string{&e.Message, &e.Path, &e.Reason, &e.Level, &e.Controller, &e.Reconcile, &e.Unread}
	if e.Object != nil {
		o := *e.Object
		e.Object = &o
		names = append(names, &o.Group, &o.Resource, &o.Namespace, &o.Kind, &o.UID)
		if e.Kind == protocol.RecordRefusal || e.Kind == protocol.RecordRequest { // there may be no such object
			texts = append(texts, &o.Name)
		} else {
			names = append(names, &o.Name)
		}
	}
	if e.By != nil {
		by := *e.By
		e.By = &by
		names = append(names, &by.User, &by.Verb, &by.Subresource, &by.Door)
		texts = append(texts, &by.Agent, &by.Manager, &by.Trace)
	}
	e.Decisions = slices.Clone(e.Decisions[:min(len(e.Decisions), maxDecisions)])
	for i := range e.Decisions {
		d := &e.Decisions[i]
		names, texts = append(names, &d.Plugin, &d.Effect), append(texts, &d.Text)
	}
	e.Keys = slices.Clone(e.Keys[:min(len(e.Keys), maxKeys)])
	for i := range e.Keys {
		names = append(names, &e.Keys[i])
	}
	return names, texts
}

// shorten bounds all texts of an entry, and makes them valid.
func shorten(e *protocol.RecordEntry, owners []string) {
	names, texts := Texts(e)
	for i := range owners {
		names = append(names, &owners[i])
	}
	for _, t := range append(names, texts...) {
		limit := maxName
		if t == &e.Message {
			limit = maxText
		}
		*t = strings.ToValidUTF8((*t)[:min(len(*t), limit)], "\uFFFD")
	}
}

// Miss counts entries that the caller had no room for, and why. The next entry is preceded by a gap.
func (r *Record) Miss(n int, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed += int64(n)
	r.gap += n
	r.problem = why
}

// Last is the number of the newest entry, 0 if there is none.
func (r *Record) Last() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.visible
}

// Status describes the record.
func (r *Record) Status() protocol.RecordStatus {
	changes, traffic := r.rings[0].Usage(), r.rings[1].Usage()
	s := protocol.RecordStatus{Bytes: changes.Bytes + traffic.Bytes, Limit: r.limit, Last: r.Last(),
		Oldest: changes.Oldest, Damaged: changes.Damaged + traffic.Damaged}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Missed, s.Problem = r.missed, r.problem
	return s
}

// Close ends the record. Who follows it gets [ErrClosed].
func (r *Record) Close() {
	r.mu.Lock()
	r.closed = true
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
	for _, open := range r.rings {
		if open != nil {
			open.Close()
		}
	}
	for _, root := range r.roots {
		_ = root.Close()
	}
}
