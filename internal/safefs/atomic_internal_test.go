package safefs

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSynced: the content reaches the disk before it gets its name, and the name before Write returns.
func TestSynced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	var steps []string
	d := disk{func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		what := "folder"
		if !info.IsDir() {
			written, err := os.ReadFile(f.Name())
			if err != nil {
				return err
			}
			what = string(written)
		}
		now, err := os.ReadFile(path)
		steps = append(steps, what+" while it holds "+string(now))
		return err
	}}
	if err := d.write(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if want := []string{"new while it holds old", "folder while it holds new"}; !slices.Equal(steps, want) {
		t.Errorf("synced %q, want %q", steps, want)
	}
	steps = nil
	if err := d.overwrite(path, []byte("newer")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"new while it holds new", "folder while it holds new", "newer while it holds newer"}; !slices.Equal(steps, want) {
		t.Errorf("in place, synced %q, want %q", steps, want)
	}
}

// TestSyncFails: a disk that does not take the new content leaves the old one.
func TestSyncFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := disk{func(*os.File) error { return os.ErrInvalid }}
	if err := full.write(path, []byte("new"), 0o600); err == nil {
		t.Error("no error")
	}
	calls := 0
	once := disk{func(*os.File) error {
		if calls++; calls == 3 { // the copy and its name are safe
			return os.ErrInvalid
		}
		return nil
	}}
	if err := once.overwrite(path, []byte("a longer one")); err == nil {
		t.Error("no error in place")
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("it holds %q, %v", got, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
