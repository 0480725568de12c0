package ring_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/history/ring"
)

func open(t testing.TB, dir string) *ring.Ring {
	t.Helper()
	r, err := tryOpen(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryOpen(t testing.TB, dir string) (*ring.Ring, error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	r, err := ring.Open(root, ring.MinSize)
	if err == nil {
		t.Cleanup(r.Close)
	}
	return r, err
}

func thread(n int) ring.Thread { return ring.ThreadOf("thread", fmt.Sprint(n)) }

// frame has the threads 0 to 2 in turn, and one of a hundred others.
func frame(seq int, size int) ring.Frame {
	return ring.Frame{
		Seq: uint64(seq), At: time.UnixMicro(int64(seq)), Kind: byte(seq), Threads: []ring.Thread{thread(seq % 3), thread(10 + seq%100)},
		Payload: bytes.Repeat([]byte{byte(seq)}, size),
	}
}

func seqs(frames func(func(ring.Frame) bool)) (all []uint64) {
	for f := range frames {
		all = append(all, f.Seq)
	}
	return all
}

// check compares all questions with what was written last: the frames up to last, without those that had to go.
func check(t testing.TB, r *ring.Ring, last int) {
	t.Helper()
	all := seqs(r.From(0))
	if len(all) == 0 || all[len(all)-1] != uint64(last) || r.Last() != uint64(last) {
		t.Fatal("the newest frame is not", last, "but", r.Last(), "of", len(all))
	}
	for i, seq := range all {
		if seq != all[0]+uint64(i) {
			t.Fatal("frame", all[0]+uint64(i), "is missing")
		}
	}
	back := seqs(r.Newest(0, 0))
	slices.Reverse(back)
	if !slices.Equal(back, all) {
		t.Fatal("read backwards:", len(back), "frames in place of", len(all))
	}
	for _, n := range []int{0, 1, 2, 17, 109} {
		want := slices.DeleteFunc(slices.Clone(all), func(seq uint64) bool { return thread(int(seq%3)) != thread(n) && thread(10+int(seq%100)) != thread(n) })
		slices.Reverse(want)
		if got := seqs(r.Newest(thread(n), 0)); !slices.Equal(got, want) {
			t.Fatal("thread", n, "has", len(got), "frames in place of", len(want))
		}
	}
	middle := all[len(all)/2]
	if got := seqs(r.From(middle)); len(got) != int(all[len(all)-1]-middle) {
		t.Fatal("from the middle on:", len(got), "frames")
	}
	for f := range r.Newest(0, middle) {
		if f.Seq != middle-1 || !bytes.Equal(f.Payload, frame(int(f.Seq), len(f.Payload)).Payload) {
			t.Fatal("before the middle is", f.Seq)
		}
		break
	}
}

// TestRing writes more than there is room for, and opens the ring anew now and then.
func TestRing(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	seq := 0
	for range 6 {
		r := open(t, dir)
		for range 150 {
			var batch []ring.Frame
			for range 1 + random.IntN(40) {
				seq++
				batch = append(batch, frame(seq, random.IntN(900)))
			}
			if err := r.Append(batch); err != nil {
				t.Fatal(err)
			}
		}
		check(t, r, seq)
		if u := r.Usage(); u.Bytes > ring.MinSize || u.Damaged != 0 || u.Oldest.IsZero() {
			t.Errorf("%+v", u)
		}
		r.Close()
	}
	if r := open(t, dir); len(seqs(r.From(0))) == seq {
		t.Error("nothing had to go")
	}
}

// TestIndex: a segment without its table, or with a wrong one, is read as a whole.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	for seq := 1; seq <= 3000; seq++ {
		if err := r.Append([]ring.Frame{frame(seq, 500)}); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	indexes, _ := filepath.Glob(dir + "/*.index")
	for i, name := range indexes {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch i % 4 {
		case 0:
			err = os.Remove(name)
		case 1:
			text[len(text)/2] ^= 1
			err = os.WriteFile(name, text, 0o600)
		case 2:
			err = os.WriteFile(name, text[:len(text)/2], 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(indexes) < 4 {
		t.Fatal("only", len(indexes), "tables")
	}
	check(t, open(t, dir), 3000)
}

// TestTruncation cuts a small segment at each byte. All whole frames before the cut are there, and the ring goes on.
func TestTruncation(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	ends := []int64{r.Usage().Bytes}
	for seq := 1; seq <= 12; seq++ {
		if err := r.Append([]ring.Frame{frame(seq, 9)}); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, r.Usage().Bytes)
	}
	r.Close()
	name := filepath.Join(dir, "00000001.segment")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for size := range whole {
		if err := os.WriteFile(name, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		left := 0
		for left < 12 && ends[left+1] <= int64(size) {
			left++
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ring.Open(root, ring.MinSize)
		if err != nil {
			t.Fatal(size, err)
		}
		if got := seqs(r.From(0)); len(got) != left {
			t.Fatal("cut at", size, "there are", got, "in place of", left)
		}
		if err := r.Append([]ring.Frame{frame(100, 9)}); err != nil {
			t.Fatal(size, err)
		}
		if got := seqs(r.Newest(thread(1), 0)); len(got) != (left+2)/3+1 {
			t.Fatal("cut at", size, "the thread has", got)
		}
		r.Close()
		root.Close()
		files, _ := filepath.Glob(dir + "/*")
		for _, f := range files {
			os.Remove(f)
		}
	}
}

// TestStrangeFiles: files of other kinds refuse the ring, files with other contents are left out.
func TestStrangeFiles(t *testing.T) {
	t.Run("link", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink("/etc/passwd", filepath.Join(dir, "00000001.segment")); err != nil {
			t.Skip(err)
		}
		if _, err := tryOpen(t, dir); !errors.Is(err, ring.ErrFolder) {
			t.Error(err)
		}
	})
	t.Run("contents", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		for seq := 1; seq <= 2000; seq++ {
			if err := r.Append([]ring.Frame{frame(seq, 500)}); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
		first, err := os.ReadFile(filepath.Join(dir, "00000001.segment"))
		if err != nil {
			t.Fatal(err)
		}
		number := bytes.Clone(first)
		binary.LittleEndian.PutUint32(number[16:], 90)
		large := append(bytes.Clone(first), make([]byte, 8<<20)...)
		binary.LittleEndian.PutUint32(large[16:], 95)
		binary.LittleEndian.PutUint32(large[36:], crc32.Checksum(large[:36], crc32.MakeTable(crc32.Castagnoli)))
		outside := filepath.Join(t.TempDir(), "outside")
		if err := errors.Join(os.WriteFile(outside, []byte("mine"), 0o600), os.Symlink(outside, filepath.Join(dir, "00000002.index"))); err != nil {
			t.Skip(err)
		}
		for name, content := range map[string][]byte{"00000095": large, "00000090": first, "00000091": number, "00000092": nil, "00000093": []byte("x"), "x": nil, "00000000000094": first} {
			if err := os.WriteFile(filepath.Join(dir, name+".segment"), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r = open(t, dir)
		check(t, r, 2000)
		if r.Usage().Damaged != 5 {
			t.Error("damaged:", r.Usage().Damaged)
		}
		for seq := 2001; seq <= 6000; seq++ { // the segment is sealed
			if err := r.Append([]ring.Frame{frame(seq, 500)}); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := os.ReadFile(outside); err != nil || string(text) != "mine" {
			t.Errorf("a file elsewhere has %d bytes now: %v", len(text), err)
		}
	})
}

// TestDamageInside: what is behind a damaged frame of the last segment stays.
func TestDamageInside(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	for seq := 1; seq <= 100; seq++ {
		if err := r.Append([]ring.Frame{frame(seq, 100)}); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	path := filepath.Join(dir, "00000001.segment")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r = open(t, dir)
	next := r.Last() + 1
	if err := r.Append([]ring.Frame{frame(int(next), 100)}); err != nil {
		t.Fatal(err)
	}
	if got := seqs(r.Newest(0, 0)); len(got) < 40 || got[0] != next || got[1] != 100 || r.Usage().Damaged == 0 {
		t.Error(next, len(got), r.Usage().Damaged)
	}
	if got := seqs(r.From(0)); len(got) < 40 || got[0] != 1 {
		t.Error(len(got))
	}
}

// TestFlippedBits: whatever bit is wrong, the frames that are read are those that were written.
func TestFlippedBits(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	for seq := 1; seq <= 3000; seq++ {
		if err := r.Append([]ring.Frame{frame(seq, 100)}); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	name := filepath.Join(dir, "00000002.segment")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		flipped := bytes.Clone(whole)
		flipped[random.IntN(len(flipped))] ^= 1 << random.IntN(8)
		if err := os.WriteFile(name, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(dir, "00000002.index"))
		r := open(t, dir)
		all := seqs(r.From(0))
		if len(all) < 1000 || !slices.IsSorted(all) {
			t.Fatal(len(all))
		}
		for _, n := range []ring.Thread{0, thread(1)} {
			for f := range r.Newest(n, 0) {
				if !bytes.Equal(f.Payload, frame(int(f.Seq), 100).Payload) {
					t.Fatal(f.Seq, "has another payload")
				}
			}
		}
		r.Close()
	}
}

// FuzzSegment reads any bytes as a segment.
func FuzzSegment(f *testing.F) {
	dir := f.TempDir()
	r := open(f, dir)
	for seq := 1; seq <= 5; seq++ {
		if err := r.Append([]ring.Frame{frame(seq, 3)}); err != nil {
			f.Fatal(err)
		}
	}
	r.Close()
	seed, err := os.ReadFile(filepath.Join(dir, "00000001.segment"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed, seed[40:], uint16(50), uint32(0))
	f.Fuzz(func(t *testing.T, segment, index []byte, at uint16, patch uint32) {
		if int(at)+4 <= len(segment) {
			segment = bytes.Clone(segment)
			binary.LittleEndian.PutUint32(segment[at:], patch)
		}
		dir := t.TempDir()
		for name, content := range map[string][]byte{"00000001.segment": segment, "00000001.index": index, "00000002.segment": seed} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := open(t, dir)
		defer r.Close()
		for _, frames := range []func(func(ring.Frame) bool){r.From(0), r.Newest(0, 0), r.Newest(thread(1), 0), r.Newest(thread(2), 4)} {
			n := 0
			for f := range frames {
				if n++; n > len(segment)+len(seed) || len(f.Payload) > len(segment)+len(seed) {
					t.Fatal("there is no end")
				}
			}
		}
	})
}
