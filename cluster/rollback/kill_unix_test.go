//go:build unix

package rollback_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/rollback"
)

const (
	// killFolder and killAfter make this test, started again, a process that rolls back and is killed after so many
	// commits.
	killFolder = "SLIPWAY_TEST_ROLLBACK"
	killAfter  = "SLIPWAY_TEST_COMMITS"
	// everyKill has the test kill after each commit, and not only after some.
	everyKill = "SLIPWAY_KILLS"
)

// killingStore ends the process in the way that nobody can prepare for, but not after the commit that says that all is
// done.
type killingStore struct {
	rollback.Store
	left atomic.Int64
}

func (k *killingStore) Apply(ctx context.Context, remove [][]byte, put []etcd.Pair) (int64, error) {
	revision, err := k.Store.Apply(ctx, remove, put)
	if ends := len(remove) == 1 && string(remove[0]) == "/slipway/rollback"; !ends && k.left.Add(-1) == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return revision, err
}

// TestKill kills a process that rolls a durable store back after each of its commits, while a program deletes at
// random. What the next start finds is finished: the store is what it was, and never something between.
func TestKill(t *testing.T) {
	if dir := os.Getenv(killFolder); dir != "" {
		rollUntilKilled(t, dir)
		return
	}
	step := 17
	if os.Getenv(everyKill) != "" {
		step = 1
	}
	for commits := 1; ; commits += step {
		dir := t.TempDir()
		finished := run(t, dir, commits)
		s := start(t, dir)
		resumed, err := rollback.NewJournal(s, filepath.Join(dir, "baseline")).Resume(t.Context(), prefix)
		if err != nil || resumed == finished {
			t.Errorf("after %d commits: finished %v, resumed %v, %v", commits, finished, resumed, err)
		}
		if resumed && !same(t, s) {
			t.Errorf("after %d commits the store is between two states", commits)
		}
		s.Stop()
		if finished || t.Failed() {
			t.Logf("%d commits", commits)
			return
		}
	}
}

// run rolls back in another process; finished is false when that was killed.
func run(t *testing.T, dir string, commits int) (finished bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), killFolder+"="+dir, fmt.Sprint(killAfter, "=", commits))
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return false
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return true
}

func rollUntilKilled(t *testing.T, dir string) {
	commits, err := strconv.Atoi(os.Getenv(killAfter))
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, dir)
	base := keep(t, s)
	mess(t, s)
	store := &killingStore{Store: s}
	store.left.Store(int64(commits))
	d := deleter{store: s, left: 20}
	way := rollback.Way{Store: store, Prefix: prefix, Journal: rollback.NewJournal(store, filepath.Join(dir, "baseline"))}
	d.run(t.Context())
	if _, err := way.Back(t.Context(), base); err != nil && !errors.Is(err, rollback.ErrBusy) {
		t.Fatal(err)
	}
	d.group.Wait()
	s.Stop()
}
