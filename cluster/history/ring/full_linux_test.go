package ring_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/cluster/history/ring"
)

// TestFullDisk: on a disk that is smaller than the ring, old frames make room; where there is none at all, frames are
// lost until there is.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("a small disk cannot be mounted here:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	records := filepath.Join(dir, "record")
	if err := os.Mkdir(records, 0o700); err != nil {
		t.Fatal(err)
	}
	r := open(t, records)
	seq := 0
	write := func() error {
		seq++
		return r.Append([]ring.Frame{frame(seq, 700)})
	}
	for range 6000 {
		if err := write(); err != nil {
			t.Fatal("old frames make room:", err)
		}
	}
	check(t, r, seq)
	var held []*os.File
	for _, path := range files(t, records, "*") { // whose room is not free while they are open
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, file)
	}
	blocker, err := os.Create(filepath.Join(dir, "blocker"))
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 64<<10)
	for range 64 {
		_, _ = blocker.Write(block) // until the disk is full
	}
	before := len(files(t, records, "*.segment"))
	for range 200 {
		_ = write()
	}
	if left := len(files(t, records, "*.segment")); before-left > 1 || left < 2 {
		t.Error("of", before, "segments there are", left, "on a disk that another program has filled")
	}
	if err := write(); err == nil {
		t.Error("the disk is full of another program's data")
	}
	for _, file := range held {
		_ = file.Close()
	}
	if err := blocker.Truncate(0); err != nil {
		t.Fatal(err)
	}
	from := seq
	for range 100 {
		if err := write(); err != nil {
			t.Fatal("there is room again:", err)
		}
	}
	if got := seqs(r.Newest(0, 0)); len(got) < 100 || got[0] != uint64(seq) || got[99] != uint64(from+1) {
		t.Error("there are", len(got))
	}
	r.Close()
	if got := seqs(open(t, records).From(uint64(from))); len(got) != 100 {
		t.Error("after all there are", len(got))
	}
}

func files(t *testing.T, dir, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
