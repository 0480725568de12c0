package release_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/release"
)

const folder = "slipway_v0.1.0_linux_amd64"

// tarball makes an archive of entries: names that end with a slash are folders.
func tarball(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, header := range entries {
		if header.Typeflag == tar.TypeReg {
			header.Size = int64(len(header.Name))
		}
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(header.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t testing.TB, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t testing.TB, name string, archive []byte, wanted ...string) (dir string, err error) {
	t.Helper()
	outer := t.TempDir()
	file := filepath.Join(outer, name)
	dir = filepath.Join(outer, "in")
	if err := errors.Join(os.WriteFile(file, archive, 0o600), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	err = release.Unpack(file, folder, dir, wanted)
	entries, readErr := os.ReadDir(outer)
	if readErr != nil || len(entries) != 2 {
		t.Fatalf("outside of the folder there is: %v", entries)
	}
	return dir, err
}

func file(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644} }

// TestUnpack: what is wanted is there and can be run; the rest is passed over.
func TestUnpack(t *testing.T) {
	for name, archive := range map[string][]byte{
		"a.tar.gz": tarball(t, tar.Header{Name: folder + "/", Typeflag: tar.TypeDir}, file(folder+"/slipway"), file(folder+"/LICENSE"), file(folder+"/docs/more")),
		"a.zip":    zipped(t, folder+"/slipway", folder+"/LICENSE", folder+"/docs/more"),
	} {
		dir, err := unpack(t, name, archive, "slipway")
		if err != nil {
			t.Fatal(name, err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "slipway"))
		if err != nil || string(text) != folder+"/slipway" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if info, err := os.Stat(filepath.Join(dir, "slipway")); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s: it cannot be run: %v", name, info.Mode())
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	good := tarball(t, file(folder+"/slipway"))
	for name, archive := range map[string][]byte{
		"another folder":  tarball(t, file("other/slipway"), file(folder+"/slipway")),
		"a parent":        tarball(t, file(folder+"/../../slipway"), file(folder+"/slipway")),
		"an absolute one": tarball(t, file("/"+folder+"/slipway"), file(folder+"/slipway")),
		"a drive":         tarball(t, file(folder+"/c:slipway"), file(folder+"/slipway")),
		"a link":          tarball(t, tar.Header{Name: folder + "/slipway", Linkname: "/bin/sh", Typeflag: tar.TypeSymlink}),
		"a device":        tarball(t, tar.Header{Name: folder + "/slipway", Typeflag: tar.TypeBlock}),
		"not wanted":      tarball(t, file(folder+"/LICENSE")),
		"half of one":     good[:len(good)/2],
		"a page":          []byte("<html></html>"),
		"nothing":         nil,
	} {
		if _, err := unpack(t, "a.tar.gz", archive, "slipway"); !errors.Is(err, release.ErrArchive) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, archive := range map[string][]byte{
		"a parent": zipped(t, folder+"/../slipway", folder+"/slipway"),
		"a page":   []byte("<html></html>"),
	} {
		if _, err := unpack(t, "a.zip", archive, "slipway"); !errors.Is(err, release.ErrArchive) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzUnpack: whatever an archive has, nothing but what is wanted is written.
func FuzzUnpack(f *testing.F) {
	f.Add(true, zipped(f, folder+"/slipway", folder+"/../x"))
	f.Add(false, tarball(f, file(folder+"/slipway"), file("../x")))
	f.Add(false, tarball(f, tar.Header{Name: folder + "/slipway", Linkname: "../../x", Typeflag: tar.TypeLink}))
	f.Fuzz(func(t *testing.T, isZip bool, archive []byte) {
		name := "a.tar.gz"
		if isZip {
			name = "a.zip"
		}
		dir, err := unpack(t, name, archive, "slipway")
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, walked error) error {
			if walked != nil || path != dir && (d.Name() != "slipway" || !d.Type().IsRegular()) {
				t.Errorf("written: %s (%v)", path, walked)
			}
			return nil
		})
		if _, statErr := os.Stat(filepath.Join(dir, "slipway")); err == nil && statErr != nil {
			t.Errorf("it was not unpacked: %v", statErr)
		}
	})
}
