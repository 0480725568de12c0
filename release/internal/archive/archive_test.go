package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/release/internal/archive"
)

var date = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

const want = `a/LICENSE 644 2026-02-03T04:05:06Z free
a/tool 755 2026-02-03T04:05:06Z program
`

// entries are a program and a text, in one order or the other.
func entries(t *testing.T, reverse bool) []archive.Entry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "built")
	if err := os.WriteFile(path, []byte("program"), 0o700); err != nil {
		t.Fatal(err)
	}
	all := []archive.Entry{{Name: "a/tool", Executable: true, Path: path}, {Name: "a/LICENSE", Data: []byte("free")}}
	if reverse {
		all[0], all[1] = all[1], all[0]
	}
	return all
}

// TestTarGz: order, modes, owner and time do not depend on the files that went in.
func TestTarGz(t *testing.T) {
	var one, two bytes.Buffer
	zone := time.FixedZone("east", 3600)
	if err := errors.Join(archive.TarGz(&one, date, entries(t, false)), archive.TarGz(&two, date.In(zone), entries(t, true))); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("the same entries make other bytes")
	}
	zipped, err := gzip.NewReader(&one)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for r := tar.NewReader(zipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		text, err2 := io.ReadAll(r)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s belongs to %d %q", h.Name, h.Uid, h.Uname)
		}
		fmt.Fprintf(&got, "%s %o %s %s\n", h.Name, h.Mode, h.ModTime.UTC().Format(time.RFC3339), text)
	}
	if got.String() != want {
		t.Errorf("got\n%s", got.String())
	}
}

// TestZip: the same for the archive of Windows.
func TestZip(t *testing.T) {
	var one, two bytes.Buffer
	if err := errors.Join(archive.Zip(&one, date, entries(t, false)), archive.Zip(&two, date.In(time.FixedZone("east", 3600)), entries(t, true))); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("the same entries make other bytes")
	}
	r, err := zip.NewReader(bytes.NewReader(one.Bytes()), int64(one.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, f := range r.File {
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err := errors.Join(err, content.Close()); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s %o %s %s\n", f.Name, f.Mode(), f.Modified.UTC().Format(time.RFC3339), text)
	}
	if got.String() != want {
		t.Errorf("got\n%s", got.String())
	}
}

// TestNoFile: an entry without its file is an error, not an empty file.
func TestNoFile(t *testing.T) {
	missing := []archive.Entry{{Name: "a", Path: filepath.Join(t.TempDir(), "absent")}}
	if err := archive.TarGz(io.Discard, date, missing); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := archive.Zip(io.Discard, date, missing); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
