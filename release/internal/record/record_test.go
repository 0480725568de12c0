package record_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/release/internal/record"
)

// bench is a folder with a record, and a step that counts how often it is done.
type bench struct {
	*testing.T
	dir, file string
	done      int
}

func newBench(t *testing.T) *bench {
	dir := t.TempDir()
	return &bench{T: t, dir: filepath.Join(dir, "work"), file: filepath.Join(dir, "made", "file")}
}

// do opens the folder, does the step and reports whether its file was kept.
func (b *bench) do(key string, make func(temp string) error) (kept bool, err error) {
	b.Helper()
	w, err := record.Open(b.dir)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	_, kept, err = w.Do(b.Context(), record.Step{Key: key, Files: []string{b.file}, Make: func(_ context.Context, temp string) error {
		b.done++
		return make(temp)
	}})
	return kept, err
}

func (b *bench) write(temp string) error {
	return os.WriteFile(filepath.Join(temp, "file"), []byte("whole"), 0o644)
}

// TestDo: a step is done again if its key, or its file, is another one, and else not.
func TestDo(t *testing.T) {
	b := newBench(t)
	for i, c := range []struct {
		key    string
		before func() error
		kept   bool
	}{
		{"one", func() error { return nil }, false},
		{"one", func() error { return nil }, true},
		{"two", func() error { return nil }, false},
		{"two", func() error { return os.WriteFile(b.file, []byte("whole!"), 0o644) }, false},
		{"two", func() error { return os.Remove(b.file) }, false},
		{"two", func() error { return os.WriteFile(filepath.Join(b.dir, "record.json"), []byte("{"), 0o644) }, false},
		{"two", func() error { return nil }, true},
	} {
		if err := c.before(); err != nil {
			t.Fatal(err)
		}
		kept, err := b.do(c.key, b.write)
		text, err2 := os.ReadFile(b.file)
		if err := errors.Join(err, err2); err != nil || kept != c.kept || string(text) != "whole" {
			t.Errorf("%d: kept %v, %q, %v", i, kept, text, err)
		}
	}
	if b.done != 5 {
		t.Errorf("done %d times", b.done)
	}
}

// TestFailed: a step that fails leaves no file under its name, and nothing in the folder for unfinished ones.
func TestFailed(t *testing.T) {
	b := newBench(t)
	cause := errors.New("cut off")
	_, err := b.do("one", func(temp string) error { return errors.Join(b.write(temp), cause) })
	if !errors.Is(err, cause) {
		t.Error(err)
	}
	if _, err := b.do("one", func(string) error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a step that wrote nothing: %v", err)
	}
	if _, err := os.Stat(b.file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(b.dir, "unfinished")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// TestOpen: one process at a time, and what was cut off goes.
func TestOpen(t *testing.T) {
	b := newBench(t)
	locked := filepath.Join(b.dir, "unfinished", "1", "modules")
	if err := errors.Join(os.MkdirAll(locked, 0o755), os.WriteFile(filepath.Join(locked, "half"), nil, 0o444), os.Chmod(locked, 0o555)); err != nil {
		t.Fatal(err)
	}
	w, err := record.Open(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(locked); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("unfinished work: %v", err)
	}
	if _, err := record.Open(b.dir); !errors.Is(err, record.ErrBusy) {
		t.Errorf("a second one: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := record.Open(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestKey: parts do not run into each other.
func TestKey(t *testing.T) {
	if record.Key("a", "bc") == record.Key("ab", "c") {
		t.Error("other parts have the same key")
	}
}
