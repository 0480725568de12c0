package etcd_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

func TestApplyIsOneTransaction(t *testing.T) {
	s := start(t, t.TempDir(), false)
	defer s.Stop()
	if err := s.Write(t.Context(), []etcd.Pair{{[]byte("/a/1"), []byte("old")}, {[]byte("/a/2"), []byte("old")}}); err != nil {
		t.Fatal(err)
	}
	before, err := s.Read(t.Context(), "/a/")
	if err != nil {
		t.Fatal(err)
	}
	revision, err := s.Apply(t.Context(), [][]byte{[]byte("/a/1")}, []etcd.Pair{{[]byte("/a/2"), []byte("new")}, {[]byte("/a/3"), []byte("new")}})
	if err != nil {
		t.Fatal(err)
	}
	after, err := s.Read(t.Context(), "/a/")
	if err != nil {
		t.Fatal(err)
	}
	if revision != before.Revision+1 || after.Revision != revision {
		t.Errorf("revision %d between %d and %d, want one transaction", revision, before.Revision, after.Revision)
	}
	if got := fmt.Sprintf("%s", after.Pairs); got != "[{/a/2 new} {/a/3 new}]" {
		t.Errorf("got %s", got)
	}
}

func TestApplyNothing(t *testing.T) {
	s := start(t, t.TempDir(), false)
	defer s.Stop()
	if revision, err := s.Apply(t.Context(), nil, nil); revision != 0 || err != nil {
		t.Errorf("got revision %d, %v", revision, err)
	}
}

// More than fits into a request to etcd goes in several, and never a part of one request.
func TestMuch(t *testing.T) {
	s := start(t, t.TempDir(), false)
	defer s.Stop()
	var pairs []etcd.Pair
	for i := range 8 {
		pairs = append(pairs, etcd.Pair{Key: fmt.Appendf(nil, "/a/%d", i), Value: bytes.Repeat([]byte("x"), 400<<10)})
	}
	if _, err := s.Apply(t.Context(), nil, pairs); err == nil {
		t.Error("what is too large for one transaction is applied")
	}
	if snapshot, err := s.Read(t.Context(), "/a/"); err != nil || len(snapshot.Pairs) != 0 {
		t.Errorf("%d keys of it are there, %v", len(snapshot.Pairs), err)
	}
	if err := s.Write(t.Context(), pairs); err != nil {
		t.Fatal(err)
	}
	if snapshot, err := s.Read(t.Context(), "/a/"); err != nil || len(snapshot.Pairs) != len(pairs) {
		t.Errorf("%d keys, %v", len(snapshot.Pairs), err)
	}
}

func TestHas(t *testing.T) {
	s := start(t, t.TempDir(), false)
	defer s.Stop()
	if err := s.Write(t.Context(), []etcd.Pair{{[]byte("/a/longer"), nil}}); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]bool{"/a/longer": true, "/a": false, "/a/long": false} {
		if got, err := s.Has(t.Context(), []byte(key)); got != want || err != nil {
			t.Errorf("%s: %v, %v", key, got, err)
		}
	}
}
