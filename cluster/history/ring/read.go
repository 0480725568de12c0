package ring

import (
	"encoding/binary"
	"io"
	"iter"
	"os"
	"slices"
)

const (
	chunk = 64 << 10 // is read at once where neighbours follow
	few   = 4 << 10  // is read at once where a thread leads on
)

// window is a part of a file in memory.
type window struct {
	file  *os.File
	end   int64 // nothing is read behind it
	ahead int64 // how much is read at once
	at    int64
	bytes []byte
}

// get returns n bytes at an offset. With back, what is before them is likely to be wanted next.
func (w *window) get(at, n int64, back bool) ([]byte, error) {
	if at < headerSize || at+n > w.end {
		return nil, errDamaged
	}
	if at < w.at || at+n > w.at+int64(len(w.bytes)) {
		begin, size := at, max(n, w.ahead)
		if back {
			begin = max(headerSize, at+n-size)
		}
		size = min(size, w.end-begin)
		w.bytes = slices.Grow(w.bytes[:0], int(size))[:size]
		w.at = begin
		if _, err := io.ReadFull(io.NewSectionReader(w.file, begin, size), w.bytes); err != nil {
			w.bytes = w.bytes[:0]
			return nil, err
		}
	}
	return w.bytes[at-w.at:][:n], nil
}

// frame reads the frame at an offset, and its length. It is valid until the next call.
func (w *window) frame(at int64) (f Frame, links []link, size int64, err error) {
	b, err := w.get(at, 4, false)
	if err == nil {
		size, err = lengthAt(b)
	}
	if err == nil {
		b, err = w.get(at, size, false)
	}
	if err == nil {
		f, links, err = parseFrame(b)
	}
	return f, links, size, err
}

// torn reports whether the frame at an offset would end behind the file.
func (w *window) torn(at int64) bool {
	b, err := w.get(at, 4, false)
	if err != nil {
		return true
	}
	size, err := lengthAt(b)
	return err == nil && at+size > w.end
}

// before reads the frame that ends at an offset.
func (w *window) before(at int64) (f Frame, size int64, err error) {
	b, err := w.get(at-tailSize, tailSize, true)
	if err != nil {
		return f, 0, err
	}
	size = int64(binary.LittleEndian.Uint32(b))
	if size < minFrame || size > MaxFrame {
		return f, 0, errDamaged
	}
	if b, err = w.get(at-size, size, true); err != nil {
		return f, 0, err
	}
	if length, err := lengthAt(b); err != nil || length != size {
		return f, 0, errDamaged
	}
	f, _, err = parseFrame(b)
	return f, size, err
}

// Newest yields the frames of a thread, or all if it is 0, that are older than the frame before; newest first. A before
// of 0 begins with the newest. A frame is valid until the next one.
func (r *Ring) Newest(t Thread, before uint64) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		for _, v := range slices.Backward(r.snapshot()) {
			if before != 0 && v.first >= before {
				continue
			}
			next := v.backward
			if t != 0 {
				next = func(yield func(Frame) bool) bool { return v.thread(r.root, t, yield) }
			}
			older := func(f Frame) bool { return before != 0 && f.Seq >= before || yield(f) }
			if !next(older) {
				return
			}
		}
	}
}

// backward yields all frames, newest first. It is false if yield was.
func (v view) backward(yield func(Frame) bool) bool {
	in := window{file: v.file, end: v.end, ahead: chunk}
	for at := v.end; at > headerSize; {
		f, n, err := in.before(at)
		if err != nil {
			v.damaged.Add(1)
			return true
		}
		if !yield(f) {
			return false
		}
		at -= n
	}
	return true
}

// thread yields the frames of a thread, newest first. It is false if yield was.
func (v view) thread(root *os.Root, t Thread, yield func(Frame) bool) bool {
	newest, end := v.newestOf(root, t) // some may have been written since
	in := window{file: v.file, end: end, ahead: few}
	for at := int64(newest); at >= headerSize; {
		f, links, _, err := in.frame(at)
		if err != nil {
			v.damaged.Add(1)
			return true
		}
		i := slices.IndexFunc(links, func(l link) bool { return l.thread == t })
		if i < 0 {
			v.damaged.Add(1)
			return true
		}
		if at < v.end && !yield(f) {
			return false
		}
		if int64(links[i].offset) >= at {
			return true // a link that lies
		}
		at = int64(links[i].offset)
	}
	return true
}

// From yields all frames behind the frame after, oldest first. A frame is valid until the next one.
func (r *Ring) From(after uint64) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		all := r.snapshot()
		begin, exact := slices.BinarySearchFunc(all, after, byFirst)
		if !exact {
			begin--
		}
		for _, v := range all[max(begin, 0):] {
			in := window{file: v.file, end: v.end, ahead: chunk}
			for at := v.behind(r.root, after); at < v.end; {
				f, _, n, err := in.frame(at)
				if err != nil {
					v.damaged.Add(1)
					break
				}
				if f.Seq > after && !yield(f) {
					return
				}
				at += n
			}
		}
	}
}
