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

// TestVolumeComesBack: as soon as a removal has begun, the volume's folder can be made anew, and is left alone. What an
// interrupted removal has left goes with the next one, or by its own name.
func TestVolumeComesBack(t *testing.T) {
	volumes := Volumes{State: t.TempDir()}
	for _, name := range []string{"a", gone + "a-1", gone + "ab-1", gone + "c-1"} {
		if err := os.MkdirAll(filepath.Join(volumes.folder(name), "data"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	all, err := volumes.List()
	if err != nil {
		t.Fatal(err)
	}
	left, err := volumes.renameForRemoval("a", all)
	if err != nil || len(left) != 2 {
		t.Fatalf("to be removed are %v, %v", left, err)
	}
	if err := os.Mkdir(volumes.folder("a"), 0o700); err != nil {
		t.Errorf("the volume cannot come back: %v", err)
	}
	for _, name := range append(left, gone+"c-1") {
		if err := volumes.Remove(name); err != nil {
			t.Error(err)
		}
	}
	if names, err := volumes.List(); !slices.Equal(names, []string{gone + "ab-1", "a"}) || err != nil {
		t.Errorf("left are %v, %v", names, err)
	}
	for _, name := range []string{"a", "ab", "absent"} {
		if err := volumes.Remove(name); err != nil {
			t.Error(err)
		}
	}
	if names, err := volumes.List(); len(names) > 0 || err != nil {
		t.Errorf("left are %v, %v", names, err)
	}
}

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
