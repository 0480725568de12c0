package isolated

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// TestSharedMemory: the containers of a pod have one /dev/shm, of which each keeps what it has when it is taken away.
func TestSharedMemory(t *testing.T) {
	b := newBed(t)
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.starter.ShareMemory(dir); err != nil {
		t.Fatal(err)
	}
	var roots []string
	for range 2 {
		c := b.describe()
		c.Files = []wire.Mount{{Source: dir, Target: "/dev/shm"}}
		started := b.start(b.prepare(c))
		defer end(started)
		roots = append(roots, fmt.Sprintf("/proc/%d/root/dev/shm", started.(*isolated).child.pid))
	}
	if err := b.starter.ReleaseMemory(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(roots[0], "word"), []byte("shared"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(roots[1], "word")); string(got) != "shared" || err != nil {
		t.Errorf("the other container finds %q, %v", got, err)
	}
	var s unix.Statfs_t
	if err := unix.Statfs(roots[1], &s); err != nil {
		t.Fatal(err)
	}
	const flags = unix.ST_NOSUID | unix.ST_NODEV | unix.ST_NOEXEC
	if s.Type != unix.TMPFS_MAGIC || s.Flags&flags != flags || s.Blocks*uint64(s.Bsize) != 64<<20 {
		t.Errorf("it is %+v", s)
	}
	if info, err := os.Stat(roots[1]); err != nil || info.Mode() != os.ModeDir|os.ModeSticky|0o777 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("the folder of the node has %v, %v", left, err)
	}
}
