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

// Options configure [Open].
type Options struct {
	Sweeper string    // the path of slipway-container
	Log     io.Writer // for the sweeper's errors; may be nil
}

// Tree is the cgroups of a cluster.
type Tree struct {
	unified bool
	dirs    map[string]string // the cluster's folder, by controller
	claims  []*claim
	sweeper *exec.Cmd
	end     *os.File // closing it, or the end of this process, starts the sweeper's work
}

// Open makes the cluster's cgroups. Before, it removes those of clusters that have ended. The error is [ErrForbidden]
// if this process cannot make cgroups.
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

// claimAt makes the cluster's folders and locks them.
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
	t.setClusterWeight()
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

// setClusterWeight gives the cluster's containers together the CPU weight of one process for each CPU. Otherwise all of
// them would count as one process. A failure is ignored.
func (t *Tree) setClusterWeight() {
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

// startSweeper starts the program that removes the cgroups when this process ends. It must outlive this process, so it
// has no Pdeathsig and a session of its own.
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

// Close removes the cluster's cgroups when their processes have ended.
func (t *Tree) Close() error {
	_ = t.end.Close()
	err := t.sweeper.Wait()
	t.release()
	if err != nil {
		return fmt.Errorf("remove the cluster's cgroups: %w", err)
	}
	return nil
}

// release unlocks the folders, and removes the empty ones.
func (t *Tree) release() {
	for _, c := range t.claims {
		_ = unix.Rmdir(c.path)
		_ = c.lock.Close()
	}
}

// Unlimited returns the controllers without which limits are missing.
func (t *Tree) Unlimited() []string {
	return slices.DeleteFunc(wanted(), func(c string) bool { return t.dirs[c] != "" && (c != cpu || t.hasQuota()) })
}

// hasQuota reports whether the kernel was built with CONFIG_CFS_BANDWIDTH, which some kernels for small boards lack.
func (t *Tree) hasQuota() bool {
	file := "cpu.cfs_quota_us"
	if t.unified {
		file = "cpu.max"
	}
	_, err := os.Stat(filepath.Join(t.dirs[cpu], file))
	return err == nil
}

// claim is a folder that this process owns by a lock while it lives.
type claim struct {
	path string
	lock *os.File
}

const (
	prefix    = "slipway-"
	nameBytes = 6
	dirMode   = 0o755
	// claimTries bounds the attempts: another cluster can take a new folder for a leftover and remove it.
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

// lockFolder locks a folder. It returns nil if the folder is locked or gone.
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

// sweepLeftovers removes the cluster folders without a lock. It ignores failures: a folder may be another user's.
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
