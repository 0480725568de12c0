package rollback_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/cluster/baseline"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/rollback"
)

const prefix = "/registry"

// objects is how many there are before and after; a third of them is the same.
const objects = 60

func start(t *testing.T, dir string) *etcd.Server {
	t.Helper()
	s, err := etcd.Start(t.Context(), etcd.Config{Dir: filepath.Join(dir, "etcd"), Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func widget(n int, color string) etcd.Pair {
	value := fmt.Sprintf(`{"apiVersion":"a.example.com/v1","kind":"Widget","metadata":{"name":"%d","uid":"%d"},"color":%q}`, n, n, color)
	return etcd.Pair{Key: fmt.Appendf(nil, "%s/a.example.com/widgets%d/n/%d", prefix, n%3, n), Value: []byte(value)}
}

// then is what the store is to come back to: every object with an even number.
func then() (all []etcd.Pair) {
	for n := range objects {
		all = append(all, widget(2*n, "red"))
	}
	return all
}

// mess makes other objects of some, deletes some and adds new ones.
func mess(t *testing.T, s *etcd.Server) {
	t.Helper()
	for n := range objects {
		var err error
		switch n % 3 {
		case 0:
			err = s.Write(t.Context(), []etcd.Pair{widget(2*n, "blue")})
		case 1:
			_, err = s.Apply(t.Context(), [][]byte{widget(2*n, "").Key}, []etcd.Pair{widget(2*n+1, "green")})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// keep writes what there is to come back to, and returns it as the baseline.
func keep(t *testing.T, s *etcd.Server) *baseline.Baseline {
	t.Helper()
	if err := s.Write(t.Context(), then()); err != nil {
		t.Fatal(err)
	}
	snapshot, err := s.Read(t.Context(), prefix+"/")
	if err != nil {
		t.Fatal(err)
	}
	return baseline.Of(snapshot, prefix)
}

func same(t *testing.T, s *etcd.Server) bool {
	t.Helper()
	now, err := s.Read(t.Context(), prefix+"/")
	if err != nil {
		t.Fatal(err)
	}
	expected := map[string][]byte{}
	for _, p := range then() {
		expected[string(p.Key)] = p.Value
	}
	for _, p := range now.Pairs {
		if !bytes.Equal(expected[string(p.Key)], p.Value) {
			return false
		}
	}
	return len(now.Pairs) == len(expected)
}

// deleter is a program that deletes objects at random while a store is rolled back, as an operator does.
type deleter struct {
	store *etcd.Server
	left  int
	group sync.WaitGroup
}

func (d *deleter) run(ctx context.Context) {
	d.group.Go(func() {
		for ; d.left > 0 && ctx.Err() == nil; d.left-- {
			if _, err := d.store.Apply(ctx, [][]byte{widget(2*rand.IntN(objects), "").Key}, nil); err != nil {
				return // the store has ended
			}
		}
	})
}

// TestBack rolls back beside a program that deletes at random, and that comes to an end.
func TestBack(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	defer s.Stop()
	base := keep(t, s)
	mess(t, s)
	d := deleter{store: s, left: 5}
	journal := rollback.NewJournal(s, filepath.Join(dir, "baseline"))
	way := rollback.Way{Store: s, Prefix: prefix, Journal: journal, Watch: func() func(context.Context, rollback.Changes) error {
		return func(ctx context.Context, _ rollback.Changes) error {
			d.run(ctx)
			d.group.Wait()
			return nil
		}
	}}
	if _, err := way.Back(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	if !same(t, s) {
		t.Error("the store is not what it was")
	}
	if resumed, err := rollback.NewJournal(s, filepath.Join(dir, "baseline")).Resume(t.Context(), prefix); resumed || err != nil {
		t.Errorf("a finished one is resumed: %v, %v", resumed, err)
	}
}

// TestBusy: a program that writes in every round is told of, and what it wrote is left.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	defer s.Stop()
	base := keep(t, s)
	mess(t, s)
	journal := rollback.NewJournal(s, filepath.Join(dir, "baseline"))
	way := rollback.Way{Store: s, Prefix: prefix, Journal: journal, Watch: func() func(context.Context, rollback.Changes) error {
		return func(ctx context.Context, _ rollback.Changes) error {
			return s.Write(ctx, []etcd.Pair{widget(1, "again")})
		}
	}}
	if _, err := way.Back(t.Context(), base); !errors.Is(err, rollback.ErrBusy) {
		t.Errorf("got %v", err)
	}
	if resumed, err := rollback.NewJournal(s, filepath.Join(dir, "baseline")).Resume(t.Context(), prefix); resumed || err != nil {
		t.Errorf("it is resumed: %v, %v", resumed, err)
	}
}

// TestInterrupted: a caller that goes away leaves no half of a round.
func TestInterrupted(t *testing.T) {
	s := start(t, t.TempDir())
	defer s.Stop()
	base := keep(t, s)
	mess(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	way := rollback.Way{Store: s, Prefix: prefix, Watch: func() func(context.Context, rollback.Changes) error {
		cancel()
		return func(ctx context.Context, _ rollback.Changes) error { return ctx.Err() }
	}}
	if _, err := way.Back(ctx, base); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if !same(t, s) {
		t.Error("the store is between two states")
	}
}

// TestLostBaseline: a store between two states whose baseline is gone is not used.
func TestLostBaseline(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	defer s.Stop()
	base := keep(t, s)
	mess(t, s)
	file := filepath.Join(dir, "baseline")
	failing := failingStore{s, 3}
	way := rollback.Way{Store: &failing, Prefix: prefix, Journal: rollback.NewJournal(&failing, file)}
	if _, err := way.Back(t.Context(), base); err == nil {
		t.Fatal("a store that fails was rolled back")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{nil, text[:len(text)/2]} {
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := rollback.NewJournal(s, file).Resume(t.Context(), prefix); !errors.Is(err, rollback.ErrUnfinished) {
			t.Errorf("got %v", err)
		}
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if resumed, err := rollback.NewJournal(s, file).Resume(t.Context(), prefix); !resumed || err != nil || !same(t, s) {
		t.Errorf("resumed %v, %v", resumed, err)
	}
}

// TestFull: a store that refuses an object in the middle is left as it is, for what is written afterwards is not to be
// lost by the next start. One that takes nothing at all, not even the journal's end, is finished by the next start,
// however often that fails.
func TestFull(t *testing.T) {
	for name, test := range map[string]struct {
		store  *refusingStore
		marked bool
	}{
		"no objects": {&refusingStore{takes: 3}, false},
		"nothing":    {&refusingStore{takes: 3, nothing: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := start(t, dir)
			defer s.Stop()
			base := keep(t, s)
			mess(t, s)
			file := filepath.Join(dir, "baseline")
			test.store.Store = s
			_, err := rollback.Way{Store: test.store, Prefix: prefix, Journal: rollback.NewJournal(test.store, file)}.Back(t.Context(), base)
			if !errors.Is(err, errFull) || errors.Is(err, rollback.ErrMarked) != test.marked {
				t.Errorf("got %v", err)
			}
			later := widget(1, "later")
			if err := s.Write(t.Context(), []etcd.Pair{later}); err != nil {
				t.Fatal(err)
			}
			if test.marked {
				again := refusingStore{Store: s}
				if resumed, err := rollback.NewJournal(&again, file).Resume(t.Context(), prefix); resumed || !errors.Is(err, errFull) {
					t.Errorf("a start in a full store: resumed %v, %v", resumed, err)
				}
			}
			resumed, err := rollback.NewJournal(s, file).Resume(t.Context(), prefix)
			if resumed != test.marked || err != nil {
				t.Errorf("resumed %v, %v", resumed, err)
			}
			now, err := s.Read(t.Context(), prefix+"/")
			if err != nil {
				t.Fatal(err)
			}
			kept := slices.ContainsFunc(now.Pairs, func(p etcd.Pair) bool { return bytes.Equal(p.Value, later.Value) })
			if kept == test.marked || same(t, s) != test.marked {
				t.Errorf("what was written later is there: %v; the store is at the baseline: %v", kept, same(t, s))
			}
		})
	}
}

// refusingStore takes some changes, and then no objects, as one that is full, or nothing.
type refusingStore struct {
	rollback.Store
	mu      sync.Mutex
	takes   int
	nothing bool
}

func (r *refusingStore) Apply(ctx context.Context, remove [][]byte, put []etcd.Pair) (int64, error) {
	r.mu.Lock()
	r.takes--
	refused := r.takes < 0 && (r.nothing || len(put) > 0)
	r.mu.Unlock()
	if refused {
		return 0, errFull
	}
	return r.Store.Apply(ctx, remove, put)
}

// TestBaselineChanges: a baseline that a later round takes to another state, as real pods do, is found again wherever
// the store fails in that round.
func TestBaselineChanges(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	defer s.Stop()
	file := filepath.Join(dir, "baseline")
	const enough, later = 1000, 6
	all := enough - backToAnother(t, s, file, enough)
	for changes := all - later; changes < all; changes++ {
		backToAnother(t, s, file, changes)
		if resumed, err := rollback.NewJournal(s, file).Resume(t.Context(), prefix); !resumed || err != nil {
			t.Errorf("after %d of %d changes: resumed %t, %v", changes, all, resumed, err)
		}
		if err := s.Write(t.Context(), []etcd.Pair{widget(0, "red")}); err != nil || !same(t, s) {
			t.Errorf("after %d of %d changes the store is between two states (%v)", changes, all, err)
		}
	}
}

// backToAnother rolls back to a baseline that is another one in the second round, in a store that takes so many
// changes. It returns how many were left.
func backToAnother(t *testing.T, s *etcd.Server, file string, changes int) (left int) {
	t.Helper()
	base := keep(t, s)
	mess(t, s)
	failing := failingStore{s, changes}
	rounds := 0
	prepare := func(now etcd.Snapshot) error {
		if rounds++; rounds == 2 {
			base.Adopt([]string{string(widget(0, "").Key)}, now)
		}
		return nil
	}
	await := func(ctx context.Context, _ rollback.Changes) error {
		if rounds > 1 {
			return nil
		}
		return s.Write(ctx, []etcd.Pair{widget(0, "later"), widget(1, "again")})
	}
	way := rollback.Way{Store: &failing, Prefix: prefix, Journal: rollback.NewJournal(&failing, file), Prepare: prepare,
		Watch: func() func(context.Context, rollback.Changes) error { return await }}
	if _, err := way.Back(t.Context(), base); (err != nil) != (failing.left < 0) {
		t.Fatalf("%d changes: %v", changes, err)
	}
	return failing.left
}

// failingStore takes some changes and no further ones.
type failingStore struct {
	rollback.Store
	left int
}

var errFull = errors.New("no space")

func (f *failingStore) Apply(ctx context.Context, remove [][]byte, put []etcd.Pair) (int64, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return f.Store.Apply(ctx, remove, put)
}
