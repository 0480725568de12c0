package machine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// TestVolumes: each is removed by itself, and no name leads elsewhere.
func TestVolumes(t *testing.T) {
	state := t.TempDir()
	volumes := Volumes{State: state}
	if names, err := volumes.List(); len(names) > 0 || err != nil {
		t.Errorf("without a folder: %v, %v", names, err)
	}
	folder, outside := filepath.Join(state, wire.VolumesFolder), filepath.Join(state, "outside")
	for _, dir := range []string{filepath.Join(folder, "a", "b"), filepath.Join(folder, "c"), outside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{filepath.Join(folder, "a", "link"), filepath.Join(folder, "link")} {
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", ".", "..", "a/b", "../outside", outside} {
		if err := volumes.Remove(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"a", "link", "absent"} {
		if err := volumes.Remove(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if names, err := volumes.List(); !slices.Equal(names, []string{"c"}) || err != nil {
		t.Errorf("left are %v, %v", names, err)
	}
	if _, err := os.Stat(filepath.Join(outside, "file")); err != nil {
		t.Error(err)
	}
}
