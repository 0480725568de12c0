package etcd_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// TestLogIsQuiet wants no warnings about how etcd is meant to run here.
func TestLogIsQuiet(t *testing.T) {
	var log bytes.Buffer
	s, err := etcd.Start(t.Context(), etcd.Config{Dir: filepath.Join(t.TempDir(), "data"), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	for _, words := range []string{"recommended", "simple token"} {
		if strings.Contains(log.String(), words) {
			t.Errorf("%q is in the log:\n%s", words, log.String())
		}
	}
}

// TestDamagedDataAreNamed empties the log of writes, at which etcd panics without a word. The error must say whose
// fault that is.
func TestDamagedDataAreNamed(t *testing.T) {
	dir := t.TempDir()
	start(t, dir, true).Stop()
	data := filepath.Join(dir, "data")
	files, err := filepath.Glob(filepath.Join(data, "member", "wal", "*.wal"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := os.Truncate(files[0], 0); err != nil {
		t.Fatal(err)
	}
	s, err := etcd.Start(t.Context(), etcd.Config{Dir: data, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Durable: true})
	if err == nil {
		s.Stop()
		t.Fatal("no error")
	}
	if !errors.Is(err, etcd.ErrData) || !strings.Contains(err.Error(), data) {
		t.Error(err)
	}
}
