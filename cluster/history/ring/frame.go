package ring

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/fnv"
	"time"
)

const (
	// MaxFrame bounds a frame on disk, in bytes.
	MaxFrame = 64 << 10
	// MaxThreads bounds the threads of a frame.
	MaxThreads = 16
	// MaxPayload is what any frame has room for.
	MaxPayload = MaxFrame - minFrame - MaxThreads*linkSize

	// A frame is: length u32, checksum u32 of what follows but for the last length, kind u8, threads u8, seq u64,
	// microseconds i64, threads × (hash u64, offset u32 of the thread's frame before), payload, length u32.
	headSize = 4 + 4 + 1 + 1 + 8 + 8
	linkSize = 8 + 4
	tailSize = 4
	minFrame = headSize + tailSize
)

// Thread is a subject that frames have in common. Two subjects may share a number: payloads have to name theirs.
type Thread uint64

// ThreadOf is the thread of a subject.
func ThreadOf(parts ...string) Thread {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return Thread(h.Sum64())
}

var (
	errDamaged = errors.New("the record is damaged")
	checksums  = crc32.MakeTable(crc32.Castagnoli)
)

func frameSize(f Frame) int64 {
	return int64(minFrame + min(len(f.Threads), MaxThreads)*linkSize + len(f.Payload))
}

// link leads to the frame of the same thread before, in the same segment; 0 if there is none.
type link struct {
	thread Thread
	offset uint32
}

// appendFrame encodes a frame.
func appendFrame(b []byte, f Frame, links []link) []byte {
	begin := len(b)
	size := uint32(frameSize(f))
	b = binary.LittleEndian.AppendUint32(b, size)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = append(b, f.Kind, byte(len(links)))
	b = binary.LittleEndian.AppendUint64(b, f.Seq)
	b = binary.LittleEndian.AppendUint64(b, uint64(f.At.UnixMicro()))
	for _, l := range links {
		b = binary.LittleEndian.AppendUint64(b, uint64(l.thread))
		b = binary.LittleEndian.AppendUint32(b, l.offset)
	}
	b = append(b, f.Payload...)
	binary.LittleEndian.PutUint32(b[begin+4:], crc32.Checksum(b[begin+8:], checksums))
	return binary.LittleEndian.AppendUint32(b, size)
}

// lengthAt is the length of the frame that begins with b.
func lengthAt(b []byte) (int64, error) {
	size := int64(binary.LittleEndian.Uint32(b))
	if size < minFrame || size > MaxFrame {
		return 0, errDamaged
	}
	return size, nil
}

// parseFrame decodes the frame that is b. The payload is a part of b.
func parseFrame(b []byte) (f Frame, links []link, err error) {
	body, tail := b[8:len(b)-tailSize], b[len(b)-tailSize:]
	if binary.LittleEndian.Uint32(tail) != uint32(len(b)) || crc32.Checksum(body, checksums) != binary.LittleEndian.Uint32(b[4:]) {
		return f, nil, errDamaged
	}
	n := int(body[1])
	if n > MaxThreads || len(b) < minFrame+n*linkSize {
		return f, nil, errDamaged
	}
	f.Kind, f.Seq = body[0], binary.LittleEndian.Uint64(body[2:])
	f.At = time.UnixMicro(int64(binary.LittleEndian.Uint64(body[10:])))
	rest := body[headSize-8:]
	for range n {
		l := link{Thread(binary.LittleEndian.Uint64(rest)), binary.LittleEndian.Uint32(rest[8:])}
		links = append(links, l)
		f.Threads = append(f.Threads, l.thread)
		rest = rest[linkSize:]
	}
	f.Payload = rest
	return f, links, nil
}
