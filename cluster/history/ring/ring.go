// Package ring keeps frames of bytes in files of a bounded total size: the newest frames stay, the oldest go.
//
//	r, err := ring.Open(dir, 64<<20)
//	err = r.Append([]ring.Frame{{Seq: 1, At: now, Threads: []ring.Thread{ring.ThreadOf("pods", "a")}, Payload: data}})
//	for frame := range r.Newest(ring.ThreadOf("pods", "a"), 0) { … }
//
// What Append has written survives the end of the process at any instruction, since it is in the system's hands: a torn
// frame at the end is cut off when the ring is opened. Each frame has a checksum. Frames that do not pass are left out
// and counted, whatever is in the files.
//
// A thread links the frames that have a subject in common, newest first, so that a question reads only those. A segment
// is a file; links stay in their segment and lead to smaller offsets, so that a lost segment breaks nothing else.
package ring

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Segments is how many segments a full ring has.
const Segments = 16

// MinSize is the smallest size of a ring: a segment has room for several of the largest frames.
const MinSize = Segments * 2 * MaxFrame

// ErrFolder says that the folder of a ring holds something else than the ring's own files.
var ErrFolder = errors.New("not a folder of records")

// Frame is one entry. Seq grows from frame to frame.
type Frame struct {
	Seq     uint64
	At      time.Time // with microseconds
	Kind    byte      // for its owner
	Threads []Thread  // at most [MaxThreads]
	Payload []byte
}

// Ring is an open ring. One goroutine appends; any number may read.
type Ring struct {
	root *os.Root
	size int64 // limit of all segments together

	mu       sync.RWMutex
	segments []*segment // oldest first; the last one is written
	number   uint32     // of the newest segment that there ever was
	last     uint64     // seq
	damaged  int64      // frames and files that were left out
	futile   bool       // to remove the oldest segment has not made room
}

// Open opens the ring in the folder, which is the ring's own, or begins it. The size is in bytes, at least [MinSize].
func Open(root *os.Root, size int64) (*Ring, error) {
	r := &Ring{root: root, size: max(size, MinSize)}
	numbers, err := r.numbers()
	if err != nil {
		return nil, err
	}
	for _, n := range numbers {
		r.number = n
		s, err := openSegment(root, n, r.segmentSize()+MaxFrame)
		if errors.Is(err, errDamaged) || err == nil && len(r.segments) > 0 && s.first <= r.newest().first {
			r.damaged++ // another ring's, or a copy
			(&segment{number: n}).remove(root)
			if s != nil {
				s.close()
			}
			continue
		}
		if err != nil {
			r.closeAll()
			return nil, err
		}
		r.segments = append(r.segments, s)
	}
	return r, r.resume()
}

// numbers lists the segments in the folder.
func (r *Ring) numbers() ([]uint32, error) {
	folder, err := r.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("open the records: %w", err)
	}
	defer folder.Close()
	entries, err := folder.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("open the records: %w", err)
	}
	var numbers []uint32
	for _, e := range entries {
		text, ok := strings.CutSuffix(e.Name(), suffix)
		n, err := strconv.ParseUint(text, 10, 32)
		if !ok || err != nil || nameOf(uint32(n)) != e.Name() {
			continue
		}
		if !e.Type().IsRegular() {
			return nil, fmt.Errorf("%w: %s is no regular file", ErrFolder, e.Name())
		}
		numbers = append(numbers, uint32(n))
	}
	slices.Sort(numbers)
	return numbers, nil
}

// resume makes the last segment fit for writing: it is read, and cut behind its last whole frame.
func (r *Ring) resume() error {
	if len(r.segments) == 0 {
		return nil
	}
	s := r.newest()
	damaged, err := s.resume()
	if err != nil {
		r.closeAll()
		return err
	}
	if damaged {
		r.damaged++
	}
	r.last = s.last
	return nil
}

func (r *Ring) newest() *segment { return r.segments[len(r.segments)-1] }

// Last is the number of the newest frame, 0 if there is none.
func (r *Ring) Last() uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.last
}

// Append writes frames with one call of the system. If the disk is full, the oldest segment makes room. The frames of a
// failed Append are lost, and the ring goes on.
func (r *Ring) Append(frames []Frame) error {
	for len(frames) > 0 {
		n, err := r.append(frames)
		if err != nil {
			return err
		}
		frames = frames[n:]
	}
	return nil
}

// append writes as many of the frames as the segment has room for.
func (r *Ring) append(frames []Frame) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.turn(frames[0]); err != nil {
		return 0, err
	}
	s := r.newest()
	batch, n := s.encode(frames, r.segmentSize())
	if err = s.write(batch); full(err) && r.yield() {
		err = s.write(batch)
		r.futile = full(err)
	}
	if err != nil {
		return 0, fmt.Errorf("write the record: %w", err)
	}
	r.last, r.futile = s.last, false
	return n, nil
}

func (r *Ring) segmentSize() int64 { return r.size / Segments }

// turn sees to a segment that has room for a frame.
func (r *Ring) turn(f Frame) error {
	if len(r.segments) > 0 && !r.newest().sealed() && r.newest().size+frameSize(f) <= r.segmentSize() {
		return nil
	}
	if len(r.segments) > 0 {
		r.newest().seal(r.root)
	}
	for r.bytes()+r.segmentSize() > r.size && len(r.segments) > 0 {
		r.drop()
	}
	s, err := createSegment(r.root, r.number+1, f)
	if full(err) && r.yield() {
		s, err = createSegment(r.root, r.number+1, f)
		r.futile = full(err)
	}
	if err != nil {
		return fmt.Errorf("begin a segment of the record: %w", err)
	}
	r.number++
	r.segments = append(r.segments, s)
	return nil
}

// yield makes room on a full disk, by the oldest segment. Once that has not helped, it keeps the others until something
// can be written again: another program fills the disk, or a snapshot keeps what was removed.
func (r *Ring) yield() bool {
	if r.futile || len(r.segments) < 2 {
		return false
	}
	r.drop()
	return true
}

// bytes is the size of all files.
func (r *Ring) bytes() (sum int64) {
	for _, s := range r.segments {
		sum += s.size + s.index
	}
	return sum
}

// drop removes the oldest segment.
func (r *Ring) drop() {
	r.segments[0].remove(r.root)
	r.segments = slices.Delete(r.segments, 0, 1)
}

// Dropped is the number of the first frame that is left, and when it was written, if frames behind the frame after have
// made room for others.
func (r *Ring) Dropped(after uint64) (first uint64, at time.Time, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.segments) == 0 || r.segments[0].number == 1 || r.segments[0].first <= after+1 {
		return 0, time.Time{}, false
	}
	return r.segments[0].first, r.segments[0].begun, true
}

// Usage is what a ring holds.
type Usage struct {
	Bytes   int64
	Oldest  time.Time
	Damaged int64
}

// Usage measures the ring.
func (r *Ring) Usage() Usage {
	r.mu.RLock()
	defer r.mu.RUnlock()
	u := Usage{Bytes: r.bytes(), Damaged: r.damaged}
	for _, s := range r.segments {
		u.Damaged += s.damaged.Load()
	}
	if len(r.segments) > 0 {
		u.Oldest = r.segments[0].begun
	}
	return u
}

// Close closes the files. Readers end.
func (r *Ring) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeAll()
}

func (r *Ring) closeAll() {
	for _, s := range r.segments {
		s.close()
	}
	r.segments = nil
}

// snapshot are the segments of a moment, with those of their sizes that a reader may rely on.
func (r *Ring) snapshot() (list []view) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, s := range r.segments {
		list = append(list, view{s, s.size})
	}
	return list
}

// view is a segment as far as it was written when a reader came.
type view struct {
	*segment
	end int64
}

func byFirst(v view, seq uint64) int { return cmp.Compare(v.first, seq) }
