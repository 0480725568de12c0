package etcd_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// page is the size of a page of the store on the machines that there are.
const page = 4096

// A damage is what happens to the files of one kind.
type damage struct {
	name, files string
	do          func(content []byte) []byte
	heals       bool // etcd has everything all the same
}

var damages = []damage{
	{"empty store", "snap/db", func([]byte) []byte { return nil }, true}, // the log has all that this test writes
	{"store of one page", "snap/db", func(b []byte) []byte { return b[:page] }, false},
	{"store cut within its pages", "snap/db", func(b []byte) []byte { return b[:6*page] }, false},
	{"store of garbage", "snap/db", func([]byte) []byte { return bytes.Repeat([]byte("rust "), 5000) }, false},
	{"store whose head is garbage", "snap/db", func(b []byte) []byte { return overwrite(b, 0, 2*page, 'x') }, false},
	{"store whose head is zero", "snap/db", func(b []byte) []byte { return overwrite(b, 0, 2*page, 0) }, false},
	{"store with zero pages", "snap/db", func(b []byte) []byte { return overwrite(b, 2*page, len(b), 0) }, false},
	{"store with garbage pages", "snap/db", func(b []byte) []byte { return overwrite(b, 2*page, len(b), 0x55) }, false},
	{"empty log", "wal/*.wal", func([]byte) []byte { return nil }, false},
	{"log of garbage", "wal/*.wal", func([]byte) []byte { return bytes.Repeat([]byte("rust "), 5000) }, false},
	{"log whose head is zero", "wal/*.wal", func(b []byte) []byte { return overwrite(b, 0, page, 0) }, false},
	{"log with a garbage record", "wal/*.wal", func(b []byte) []byte { return overwrite(b, 2*page, 3*page, 0x55) }, false},
	{"log cut short", "wal/*.wal", func(b []byte) []byte { return b[:len(b)/100] }, false},
}

func overwrite(b []byte, from, to int, with byte) []byte {
	b = bytes.Clone(b)
	for i := from; i < to; i++ {
		b[i] = with
	}
	return b
}

// TestDamage starts with data that something has happened to: etcd has everything, or there is an error that
// says which data it is about. It never panics.
func TestDamage(t *testing.T) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			const keys = 100
			writeKeys(t, dir, keys)
			d.inflict(t, filepath.Join(dir, "data"))
			s, err := etcd.Start(t.Context(), etcd.Config{Dir: filepath.Join(dir, "data"), Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Durable: true})
			t.Log(err)
			if err != nil {
				if d.heals || !errors.Is(err, etcd.ErrData) || !strings.Contains(err.Error(), filepath.Join(dir, "data")) {
					t.Error(err)
				}
				return
			}
			defer s.Stop()
			if !d.heals {
				t.Error("it started")
			}
			if snap, err := s.Read(t.Context(), "/a/"); err != nil || len(snap.Pairs) != keys {
				t.Errorf("%d keys, %v", len(snap.Pairs), err)
			}
		})
	}
}

func writeKeys(t *testing.T, dir string, keys int) {
	t.Helper()
	s := start(t, dir, true)
	defer s.Stop()
	for n := range keys {
		if err := s.Write(t.Context(), []etcd.Pair{{Key: fmt.Append(nil, "/a/", n), Value: bytes.Repeat([]byte("v"), 2000)}}); err != nil {
			t.Fatal(err)
		}
	}
}

func (d damage) inflict(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "member", d.files))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err == nil {
			err = os.WriteFile(f, d.do(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
