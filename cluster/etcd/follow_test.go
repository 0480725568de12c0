package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// TestFollow: changes come in order, from a revision on, and a value of the past can be read.
func TestFollow(t *testing.T) {
	s := start(t, t.TempDir(), false)
	defer s.Stop()
	var revisions []int64
	write := func(value string) {
		revision, err := s.Apply(t.Context(), nil, []etcd.Pair{{[]byte("/a/1"), []byte(value)}})
		if err != nil {
			t.Fatal(err)
		}
		revisions = append(revisions, revision)
	}
	write("zero")
	write("one")
	ctx, cancel := context.WithCancel(t.Context())
	var got []string
	begun := func(func()) { write("two") }
	err := s.Follow(ctx, "/a/", revisions[1], begun, func(c etcd.Change) {
		if got = append(got, string(c.Value)); c.Revision != revisions[len(got)] {
			t.Error(c.Revision, revisions)
		}
		if len(got) == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || !slices.Equal(got, []string{"one", "two"}) {
		t.Error(got, err)
	}
	if value, err := s.At(t.Context(), []byte("/a/1"), revisions[2]-1); err != nil || string(value) != "one" {
		t.Errorf("%s, %v", value, err)
	}
	if value, err := s.At(t.Context(), []byte("/a/2"), revisions[2]); err != nil || value != nil {
		t.Errorf("%s, %v", value, err)
	}
}

// TestSlowFollower: a follower that takes nothing is let go, one that takes what it can is not, and writes do not wait.
func TestSlowFollower(t *testing.T) {
	s := start(t, t.TempDir(), false)
	defer s.Stop()
	release, begun := make(chan struct{}), make(chan struct{}, 2)
	follow := func(each func(etcd.Change)) (ended chan error) {
		ended = make(chan error, 1)
		go func() { ended <- s.Follow(t.Context(), "/a/", 0, func(func()) { begun <- struct{}{} }, each) }()
		<-begun
		return ended
	}
	const writes = 20_000
	got := make(chan struct{})
	count := 0
	slow := follow(func(etcd.Change) { <-release })
	quick := follow(func(etcd.Change) {
		if count++; count == writes {
			close(got)
		}
	})
	for range writes / 1000 { // none of them waits for the release
		var pairs []etcd.Pair
		for k := range 1000 {
			pairs = append(pairs, etcd.Pair{Key: fmt.Appendf(nil, "/a/%d", k), Value: []byte("value")})
		}
		if _, err := s.Apply(t.Context(), nil, pairs); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-got:
	case err := <-quick:
		t.Error(err)
	}
	close(release)
	if err := <-slow; !errors.Is(err, etcd.ErrBehind) {
		t.Error(err)
	}
}

// TestPast: what was written before waits for a follower that is slow, however much it is. How far it is, it is asked.
func TestPast(t *testing.T) {
	s := start(t, t.TempDir(), false)
	defer s.Stop()
	from := s.Revision() + 1
	value := make([]byte, 64<<10)
	const writes = 400 // of 25 MiB
	for range writes {
		if _, err := s.Apply(t.Context(), nil, []etcd.Pair{{Key: []byte("/a/1"), Value: value}}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	count, asks := 0, make(chan func(), 1)
	errEnough := errors.New("enough")
	ctx, enough := context.WithCancelCause(ctx)
	err := s.Follow(ctx, "/a/", from, func(ask func()) { asks <- ask }, func(c etcd.Change) {
		switch {
		case len(c.Key) == 0 && c.Revision == s.Revision() && count == writes:
			enough(errEnough)
		case len(c.Key) > 0:
			if count++; count == writes {
				go func() {
					for ask := <-asks; ctx.Err() == nil; <-time.After(5 * time.Millisecond) {
						ask()
					}
				}()
			}
			<-time.After(time.Millisecond)
		}
	})
	if !errors.Is(err, errEnough) {
		t.Error(count, err)
	}
}
