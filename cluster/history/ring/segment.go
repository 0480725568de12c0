package ring

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	suffix      = ".segment"
	indexSuffix = ".index"

	// A segment begins with: magic, number u32, seq u64 and microseconds i64 of its first frame, checksum u32.
	magic      = "slipway record 1"
	headerSize = int64(len(magic) + 4 + 8 + 8 + 4)
	entrySize  = 8 + 4
	fixed      = 8 + 8 + 4 // bytes of an index besides its entries
)

// segment is one file.
type segment struct {
	number uint32
	file   *os.File
	size   int64 // up to the end of the last whole frame
	index  int64 // size of the file beside it
	first  uint64
	begun  time.Time
	last   uint64 // of the one that is written

	damaged atomic.Int64

	mu     sync.Mutex
	marks  []mark            // one for each stretch of the file
	newest map[Thread]uint32 // while it is written: where the newest frame of each thread is
	table  []link            // the same of a sealed one, by thread; nil until it is asked for
	loaded bool
}

// mark is where a frame begins.
type mark struct {
	seq    uint64
	offset uint32
}

// stretch is the distance of marks, in bytes.
const stretch = 64 << 10

// mark notes where a frame begins, now and then.
func (s *segment) mark(seq uint64, at int64) {
	if n := len(s.marks); n == 0 || at-int64(s.marks[n-1].offset) >= stretch {
		s.marks = append(s.marks, mark{seq, uint32(at)})
	}
}

// behind is where to look for the frames behind a number.
func (s *segment) behind(root *os.Root, after uint64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest == nil && !s.loaded {
		s.load(root)
	}
	i, exact := slices.BinarySearchFunc(s.marks, after, func(m mark, seq uint64) int { return cmp.Compare(m.seq, seq) })
	if !exact {
		i--
	}
	if i < 0 {
		return headerSize
	}
	return int64(s.marks[i].offset)
}

func nameOf(number uint32) string { return fmt.Sprintf("%08d%s", number, suffix) }

func (s *segment) name() string { return nameOf(s.number) }

func (s *segment) indexName() string { return fmt.Sprintf("%08d%s", s.number, indexSuffix) }

// createSegment begins a segment whose first frame is to be f.
func createSegment(root *os.Root, number uint32, f Frame) (*segment, error) {
	s := &segment{number: number, first: f.Seq, begun: f.At, newest: map[Thread]uint32{}}
	file, err := root.OpenFile(s.name(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	s.file = file
	if err := s.write(batch{bytes: s.header()}); err != nil {
		s.remove(root)
		return nil, err
	}
	return s, nil
}

func (s *segment) header() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), s.number)
	b = binary.LittleEndian.AppendUint64(b, s.first)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.begun.UnixMicro()))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, checksums))
}

// openSegment opens a file that has a segment's name. What is no segment, or larger than one, gives [errDamaged].
func openSegment(root *os.Root, number uint32, limit int64) (*segment, error) {
	file, err := root.OpenFile(nameOf(number), os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open a segment of the record: %w", err)
	}
	s := &segment{number: number, file: file}
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(io.NewSectionReader(file, 0, headerSize), header); err == nil {
		rest := header[len(magic)+4:]
		s.first, s.begun = binary.LittleEndian.Uint64(rest), time.UnixMicro(int64(binary.LittleEndian.Uint64(rest[8:])))
	}
	info, err := file.Stat()
	if err != nil || string(header) != string(s.header()) || info.Size() > limit {
		s.close()
		return nil, errors.Join(errDamaged, err)
	}
	s.size = info.Size()
	switch index, err := root.Lstat(s.indexName()); {
	case err == nil && (!index.Mode().IsRegular() || index.Size() > s.size+fixed):
		_ = root.Remove(s.indexName()) // it is made again when it is asked for
	case err == nil:
		s.index = index.Size()
	}
	return s, nil
}

// resume reads a segment that is to be written further. A torn frame at its end is cut off. Behind other damage there
// may be frames, so that the segment is sealed as it is.
func (s *segment) resume() (damaged bool, err error) {
	end := s.size
	s.size, s.last = headerSize, s.first-1
	s.newest = map[Thread]uint32{}
	in := window{file: s.file, end: end, ahead: chunk}
	for s.size < end {
		f, _, n, err := in.frame(s.size)
		if err != nil || f.Seq <= s.last && s.size > headerSize {
			damaged = true
			break
		}
		for _, t := range f.Threads {
			s.newest[t] = uint32(s.size)
		}
		s.mark(f.Seq, s.size)
		s.size, s.last = s.size+n, f.Seq
	}
	switch {
	case s.size < end && in.torn(s.size):
		if err := s.file.Truncate(s.size); err != nil {
			return damaged, fmt.Errorf("cut a torn entry off the record: %w", err)
		}
	case s.size < end:
		s.last += uint64(end-s.size) / minFrame // no frame there has a higher number
		s.size, s.newest, s.marks = end, nil, nil
	}
	return damaged, nil
}

// batch is encoded frames and what becomes of a segment with them.
type batch struct {
	bytes  []byte
	newest map[Thread]uint32
	first  uint64
	last   uint64
}

// encode encodes as many of the frames as fit, one at least.
func (s *segment) encode(frames []Frame, limit int64) (b batch, n int) {
	b.newest, b.first = map[Thread]uint32{}, frames[0].Seq
	for _, f := range frames {
		at := s.size + int64(len(b.bytes))
		if n > 0 && at+frameSize(f) > limit {
			break
		}
		var links []link
		for _, t := range f.Threads[:min(len(f.Threads), MaxThreads)] {
			before, ok := b.newest[t]
			if !ok {
				before = s.newest[t]
			}
			links = append(links, link{t, before})
		}
		for _, l := range links {
			b.newest[l.thread] = uint32(at)
		}
		b.bytes, b.last = appendFrame(b.bytes, f, links), f.Seq
		n++
	}
	return b, n
}

// write appends a batch, or leaves the segment as it was.
func (s *segment) write(b batch) error {
	if _, err := s.file.WriteAt(b.bytes, s.size); err != nil {
		_ = s.file.Truncate(s.size) // else the next one overwrites it
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for t, at := range b.newest {
		s.newest[t] = at
	}
	if b.last != 0 {
		s.mark(b.first, s.size)
	}
	s.size, s.last = s.size+int64(len(b.bytes)), b.last
	return nil
}

// seal ends the writing of a segment. Its table goes into a file beside it, without which it would have to be read as a
// whole.
func (s *segment) seal(root *os.Root) {
	if s.sealed() {
		return
	}
	s.mu.Lock()
	s.table, s.loaded, s.newest = sorted(s.newest), true, nil
	s.mu.Unlock()
	b := binary.LittleEndian.AppendUint64(nil, uint64(s.size))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s.marks)))
	for _, m := range s.marks {
		b = binary.LittleEndian.AppendUint64(b, m.seq)
		b = binary.LittleEndian.AppendUint32(b, m.offset)
	}
	for _, l := range s.table {
		b = binary.LittleEndian.AppendUint64(b, uint64(l.thread))
		b = binary.LittleEndian.AppendUint32(b, l.offset)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, checksums))
	if err := writeNew(root, s.indexName(), b); err != nil {
		_ = root.Remove(s.indexName()) // it is made again when it is asked for
		return
	}
	s.index = int64(len(b))
}

// writeNew writes a file that does not lead elsewhere.
func writeNew(root *os.Root, name string, content []byte) error {
	_ = root.Remove(name) // there may be none
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// sealed is for the goroutine that writes.
func (s *segment) sealed() bool { return s.newest == nil }

func sorted(newest map[Thread]uint32) []link {
	table := make([]link, 0, len(newest))
	for t, at := range newest {
		table = append(table, link{t, at})
	}
	slices.SortFunc(table, func(a, b link) int { return cmp.Compare(a.thread, b.thread) })
	return table
}

// newestOf is the offset of the newest frame of a thread, 0 if there is none, and where the segment ends now.
func (s *segment) newestOf(root *os.Root, t Thread) (at uint32, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest != nil && !s.loaded {
		return s.newest[t], s.size
	}
	if !s.loaded {
		s.load(root)
	}
	i, ok := slices.BinarySearchFunc(s.table, t, func(l link, t Thread) int { return cmp.Compare(l.thread, t) })
	if !ok {
		return 0, s.size
	}
	return s.table[i].offset, s.size
}

// load reads the table of a sealed segment, or makes it again.
func (s *segment) load(root *os.Root) {
	s.loaded = true
	if s.loadIndex(root) {
		return
	}
	newest := map[Thread]uint32{}
	in := window{file: s.file, end: s.size, ahead: chunk}
	for at := headerSize; at < s.size; {
		f, _, n, err := in.frame(at)
		if err != nil {
			s.damaged.Add(1)
			break // where the next one begins is not known
		}
		for _, t := range f.Threads {
			newest[t] = uint32(at)
		}
		s.mark(f.Seq, at)
		at += n
	}
	s.table = sorted(newest)
}

// loadIndex is false if there is no table that belongs to the file.
func (s *segment) loadIndex(root *os.Root) bool {
	file, err := root.Open(s.indexName())
	if err != nil {
		return false
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, s.size+fixed)) // each thread has a frame, which is larger than its entry
	if err != nil || len(b) < fixed || (len(b)-fixed)%entrySize != 0 || binary.LittleEndian.Uint64(b) != uint64(s.size) ||
		crc32.Checksum(b[:len(b)-4], checksums) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return false
	}
	marks := binary.LittleEndian.Uint64(b[8:])
	for entries := b[16 : len(b)-4]; len(entries) > 0; entries = entries[entrySize:] {
		first, at := binary.LittleEndian.Uint64(entries), binary.LittleEndian.Uint32(entries[8:])
		if uint64(len(s.marks)) < marks {
			s.marks = append(s.marks, mark{first, at})
			continue
		}
		s.table = append(s.table, link{Thread(first), at})
	}
	if !slices.IsSortedFunc(s.table, func(a, b link) int { return cmp.Compare(a.thread, b.thread) }) {
		s.table, s.marks = nil, nil
		return false
	}
	return true
}

func (s *segment) close() { _ = s.file.Close() } // nothing waits to be written; there may be no file

// remove removes the files. Readers that have reached the segment end there.
func (s *segment) remove(root *os.Root) {
	s.close()
	_ = root.Remove(s.name())      // one that stays is removed in its turn after the next start
	_ = root.Remove(s.indexName()) // there may be none
}
