package etcd_test

import (
	"context"
	"errors"
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

// TestSlowFollower: a follower that takes nothing is let go, and writes do not wait for one that is slow.
func TestSlowFollower(t *testing.T) {
	s := start(t, t.TempDir(), false)
	defer s.Stop()
	release, begun, ended := make(chan struct{}), make(chan struct{}, 2), make(chan error, 2)
	follow := func(each func(etcd.Change)) {
		go func() { ended <- s.Follow(t.Context(), "/a/", 0, func(func()) { begun <- struct{}{} }, each) }()
		<-begun
	}
	follow(func(etcd.Change) { <-release })
	follow(func(etcd.Change) { <-time.After(200 * time.Microsecond) })
	value := make([]byte, 1<<10)
	var slowest time.Duration
	began := time.Now()
	for range 20_000 {
		one := time.Now()
		if _, err := s.Apply(t.Context(), nil, []etcd.Pair{{[]byte("/a/1"), value}}); err != nil {
			t.Fatal(err)
		}
		slowest = max(slowest, time.Since(one))
	}
	t.Log("20,000 writes took", time.Since(began), "and the slowest of them", slowest)
	close(release)
	if err := <-ended; !errors.Is(err, etcd.ErrBehind) {
		t.Error(err)
	}
}
