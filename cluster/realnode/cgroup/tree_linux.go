package cgroup

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/containerinit"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Options say how a cluster's cgroups are made.
type Options struct {
	Sweeper string    // the path of slipway-container
	Log     io.Writer // for what it complains about; may be nil
}

// Tree are the cgroups of a cluster.
type Tree struct {
	unified bool
	dirs    map[string]string // the cluster's folder, by controller
	claims  []*claim
	sweeper *exec.Cmd
	end     *os.File // that the sweeper waits for
}

// Open makes the cluster's cgroups, after it has removed those of clusters that are gone. The error is [ErrForbidden]
// where that is not possible.
func Open(o Options) (*Tree, error) {
	p, err := findPlace("/proc/self")
	if err != nil {
		return nil, err
	}
	t, err := claimAt(p)
	if err != nil {
		return nil, err
	}
	if err := t.startSweeper(o); err != nil {
		t.release()
		return nil, err
	}
	return t, nil
}

// claimAt makes the cluster's folders.
func claimAt(p place) (*Tree, error) {
	t := &Tree{unified: p.unified, dirs: map[string]string{}}
	made := map[string]string{} // controllers may share a hierarchy
	for _, controller := range slices.Sorted(maps.Keys(p.parents)) {
		parent := p.parents[controller]
		if made[parent] == "" {
			sweepLeftovers(parent)
			c, err := newClaim(parent)
			if err != nil {
				t.release()
				return nil, fmt.Errorf("%w: %w", ErrForbidden, err)
			}
			t.claims, made[parent] = append(t.claims, c), c.path
		}
		t.dirs[controller] = made[parent]
	}
	t.weigh()
	if !t.unified {
		return t, nil
	}
	for controller, dir := range t.dirs {
		if err := write(dir, "cgroup.subtree_control", "+"+controller); err != nil {
			t.release()
			return nil, fmt.Errorf("%w: %w", ErrForbidden, err)
		}
	}
	return t, nil
}

// weigh makes the cluster's containers together count as much as that many processes as there are CPUs, not as one.
// That they do is not vital.
func (t *Tree) weigh() {
	const sharesOfOne, weightOfOne, maxWeight = 1024, 100, 10_000
	switch dir := t.dirs[cpu]; {
	case dir == "":
	case t.unified:
		_ = write(dir, "cpu.weight", strconv.Itoa(min(weightOfOne*runtime.NumCPU(), maxWeight)))
	default:
		_ = write(dir, "cpu.shares", strconv.Itoa(sharesOfOne*runtime.NumCPU()))
	}
}

func (t *Tree) paths() (all []string) {
	for _, c := range t.claims {
		all = append(all, c.path)
	}
	return all
}

// startSweeper starts what removes all when this process ends. So it is not tied to it, nor in its session.
func (t *Tree) startSweeper(o Options) error {
	in, end, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("watch over cgroups: %w", err)
	}
	defer in.Close()
	t.sweeper = exec.Command(o.Sweeper, append([]string{wire.PartSweep}, t.paths()...)...)
	t.sweeper.Stdin, t.sweeper.Stderr = in, o.Log
	t.sweeper.Env, t.sweeper.Dir = []string{"GOMAXPROCS=1"}, "/"
	t.sweeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := t.sweeper.Start(); err != nil {
		return errors.Join(fmt.Errorf("watch over cgroups: %w", err), end.Close())
	}
	t.end = end
	return nil
}

// Close removes the cluster's cgroups, once the processes in them have ended.
func (t *Tree) Close() error {
	_ = t.end.Close()
	err := t.sweeper.Wait()
	t.release()
	if err != nil {
		return fmt.Errorf("remove the cluster's cgroups: %w", err)
	}
	return nil
}

// release gives the folders up, and removes those that nothing is in.
func (t *Tree) release() {
	for _, c := range t.claims {
		_ = unix.Rmdir(c.path)
		_ = c.lock.Close()
	}
}

// Unlimited names what cannot be limited here.
func (t *Tree) Unlimited() []string {
	return slices.DeleteFunc(wanted(), func(c string) bool { return t.dirs[c] != "" && (c != cpu || t.hasQuota()) })
}

// hasQuota says whether the kernel was built with CONFIG_CFS_BANDWIDTH: some of those for small boards are not.
func (t *Tree) hasQuota() bool {
	file := "cpu.cfs_quota_us"
	if t.unified {
		file = "cpu.max"
	}
	_, err := os.Stat(filepath.Join(t.dirs[cpu], file))
	return err == nil
}

// claim is a folder that belongs to this process as long as that lives.
type claim struct {
	path string
	lock *os.File
}

const (
	prefix    = "slipway-"
	nameBytes = 6
	dirMode   = 0o755
	// claimTries is more than somebody will take a new folder for a leftover.
	claimTries = 10
)

func newClaim(parent string) (*claim, error) {
	for range claimTries {
		name := make([]byte, nameBytes)
		_, _ = rand.Read(name) // never fails
		path := filepath.Join(parent, prefix+hex.EncodeToString(name))
		if err := makeFolder(path); err != nil {
			return nil, err
		}
		if lock := lockFolder(path); lock != nil {
			return &claim{path: path, lock: lock}, nil
		}
	}
	return nil, fmt.Errorf("make a cgroup in %s: another program removes it", parent)
}

// lockFolder locks a folder unless somebody has, and says so by nil; also when it is gone by then.
func lockFolder(path string) *os.File {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		locked, err := f.Stat()
		now, nowErr := os.Stat(path)
		if err == nil && nowErr == nil && os.SameFile(locked, now) {
			return f
		}
	}
	_ = f.Close()
	return nil
}

// sweepLeftovers removes what nobody holds a lock on. What cannot be removed is another user's, or the next cluster's
// task.
func sweepLeftovers(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) || len(e.Name()) != len(prefix)+2*nameBytes {
			continue
		}
		path := filepath.Join(parent, e.Name())
		if lock := lockFolder(path); lock != nil {
			_ = containerinit.RemoveGroups(path, 0)
			_ = lock.Close()
		}
	}
}
