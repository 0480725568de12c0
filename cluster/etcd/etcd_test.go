package etcd_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

func start(t *testing.T, dir string, durable bool) *etcd.Server {
	t.Helper()
	s, err := etcd.Start(t.Context(), etcd.Config{Dir: filepath.Join(dir, "data"), Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Durable: durable})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWriteRead(t *testing.T) {
	s := start(t, t.TempDir(), false)
	defer s.Stop()
	if empty, err := s.Empty(t.Context(), "/a/"); err != nil || !empty {
		t.Errorf("a new store: %v, %v", empty, err)
	}
	if err := s.Write(t.Context(), []etcd.Pair{{[]byte("/a/2"), []byte("two")}, {[]byte("/a/1"), []byte("one")}, {[]byte("/b"), nil}}); err != nil {
		t.Fatal(err)
	}
	snap, err := s.Read(t.Context(), "/a/")
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Pairs) != 2 || string(snap.Pairs[0].Value) != "one" || string(snap.Pairs[1].Key) != "/a/2" {
		t.Errorf("got %s", snap.Pairs)
	}
	if keys, bytes, err := s.Size(t.Context(), "/a/"); err != nil || keys == 0 || bytes == 0 {
		t.Errorf("size: %d keys, %d bytes, %v", keys, bytes, err)
	}
	if empty, err := s.Empty(t.Context(), "/a/"); err != nil || empty {
		t.Errorf("after a write: %v, %v", empty, err)
	}
}

// Both kinds keep their data over an orderly end; only a durable one promises it
// over a crash.
func TestDataSurvivesStop(t *testing.T) {
	for _, durable := range []bool{true, false} {
		dir := t.TempDir()
		s := start(t, dir, durable)
		if err := s.Write(t.Context(), []etcd.Pair{{[]byte("/a"), []byte("kept")}}); err != nil {
			t.Fatal(err)
		}
		s.Stop()
		s = start(t, dir, durable)
		snap, err := s.Read(t.Context(), "/a")
		if err != nil || len(snap.Pairs) != 1 || string(snap.Pairs[0].Value) != "kept" {
			t.Errorf("durable %v: %s, %v", durable, snap.Pairs, err)
		}
		s.Stop()
	}
}

func TestUnusableFolder(t *testing.T) {
	s := start(t, t.TempDir(), false)
	defer s.Stop()
	if _, err := etcd.Start(t.Context(), etcd.Config{Dir: "/dev/null/data", Log: slog.New(slog.NewTextHandler(t.Output(), nil))}); err == nil {
		t.Error("no error")
	}
}
