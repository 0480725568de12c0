package imagestore

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/sys/unix"
)

// layerOf is a layer with these headers, each with as many bytes as its size says.
func layerOf(t testing.TB, headers ...tar.Header) v1.Layer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Mode == 0 {
			h.Mode = 0o755
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(bytes.Repeat([]byte("x"), int(h.Size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return rawLayer(t, b.Bytes())
}

func rawLayer(t testing.TB, content []byte) v1.Layer {
	t.Helper()
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func stat(t *testing.T, path string) (s unix.Stat_t) {
	t.Helper()
	if err := unix.Lstat(path, &s); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return s
}

// TestLayers: a layer changes what the ones below it have, by way of their links, and no more.
func TestLayers(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	_, err := unpack(imageOf(t,
		layer(t, entry{name: "a", text: "old"}, entry{name: "b", to: "a", hard: true}, entry{name: "run/"}, entry{name: "var/run", to: "/run"},
			entry{name: "full/low", text: "1"}, entry{name: "full/sub/low", text: "1"}, entry{name: "file", text: "1"}, entry{name: "dir/below", text: "1"}, entry{name: "link", to: "a"}),
		layer(t, entry{name: "a", text: "new"}, entry{name: "c", to: "b", hard: true}, entry{name: "var/run/pid", text: "1"}, entry{name: "full/sub/high", text: "2"},
			entry{name: "full/.wh..wh..opq"}, entry{name: "full/high", text: "2"}, entry{name: "file/"}, entry{name: "dir", text: "2"}, entry{name: "link", text: "own"}),
	), root, false)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"a": "new", "b": "old", "c": "old", "run/pid": "1", "full/high": "2", "full/sub/high": "2", "full/low": "", "full/sub/low": "", "dir": "2", "link": "own",
	} {
		if got, err := os.ReadFile(filepath.Join(root, path)); string(got) != want || (want == "") != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s has %q (%v), want %q", path, got, err, want)
		}
	}
	if info, err := os.Lstat(filepath.Join(root, "file")); err != nil || !info.IsDir() {
		t.Errorf("a folder in place of a file: %v", err)
	}
	if b, c := stat(t, filepath.Join(root, "b")), stat(t, filepath.Join(root, "c")); b.Ino != c.Ino || b.Nlink != 2 {
		t.Errorf("two names of a file are the files %d and %d with %d names", b.Ino, c.Ino, b.Nlink)
	}
}

// TestAttributes: times, capabilities and programs' own attributes are kept; an overlay's are not an image's to give.
func TestAttributes(t *testing.T) {
	when := time.Unix(1_000_000_000, 500)
	capable := string([]byte{1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) // version 2, effective: CAP_NET_RAW
	root := filepath.Join(t.TempDir(), "root")
	bare, err := unpack(imageOf(t, layerOf(t,
		tar.Header{Name: "dir/", Typeflag: tar.TypeDir, ModTime: when, Mode: 0o555, Format: tar.FormatPAX},
		tar.Header{Name: "dir/ping", Size: 3, ModTime: when, Mode: 0o4755, Format: tar.FormatPAX, PAXRecords: map[string]string{
			attributePrefix + capability: capable, attributePrefix + "user.of.program": "1", attributePrefix + "user.overlay.redirect": "/etc",
		}},
		tar.Header{Name: "dir/link", Typeflag: tar.TypeSymlink, Linkname: "ping", ModTime: when, Format: tar.FormatPAX},
	)), root, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"dir", "dir/ping", "dir/link"} {
		if s := stat(t, filepath.Join(root, path)); s.Mtim.Sec != when.Unix() || s.Mtim.Nsec != 500 {
			t.Errorf("%s is of %d.%d", path, s.Mtim.Sec, s.Mtim.Nsec)
		}
	}
	value := func(name string) string {
		text := make([]byte, 100)
		n, err := unix.Lgetxattr(filepath.Join(root, "dir/ping"), name, text)
		if err != nil {
			return err.Error()
		}
		return string(text[:n])
	}
	if got := value(capability); (got == capable) != (len(bare) == 0) || os.Getuid() == 0 && len(bare) > 0 {
		t.Errorf("capabilities: %q, and told: %q", got, bare)
	}
	if got := value("user.of.program"); got != "1" {
		t.Errorf("a program's attribute: %q", got)
	}
	if got := value("user.overlay.redirect"); got == "/etc" {
		t.Error("an overlay's attribute is an image's")
	}
}

// TestForeignLayers: an image is not unpacked whose layers are others than its configuration says, which is all that it
// is known by.
func TestForeignLayers(t *testing.T) {
	honest := imageOf(t, layer(t, entry{name: "which", text: "honest"}))
	config, err := honest.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	forged, err := mutate.Append(empty.Image, mutate.Addendum{Layer: claiming{layer(t, entry{name: "which", text: "forged"}), config.RootFS.DiffIDs[0]}})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := id(t, honest), id(t, forged); a != b {
		t.Fatalf("they have different IDs: %s, %s", a, b)
	}
	if _, err := unpack(forged, filepath.Join(t.TempDir(), "root"), false); !errors.Is(err, errLayers) {
		t.Errorf("unpacked: %v", err)
	}
	artifact, err := mutate.ConfigFile(honest, &v1.ConfigFile{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(artifact, filepath.Join(t.TempDir(), "root"), false); !errors.Is(err, errLayers) {
		t.Errorf("without a list of layers: %v", err)
	}
}

// claiming is a layer that says to be another one.
type claiming struct {
	v1.Layer
	id v1.Hash
}

func (c claiming) DiffID() (v1.Hash, error) { return c.id, nil }

func id(t *testing.T, i v1.Image) v1.Hash {
	t.Helper()
	h, err := i.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestTooLarge: an image cannot fill the disk.
func TestTooLarge(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var many []tar.Header
	for i := range 100 {
		many = append(many, tar.Header{Name: fmt.Sprint(i)})
	}
	deep := tar.Header{Name: strings.Repeat("folder/", 50) + "file"}
	trailing, err := layer(t, entry{name: "a"}).Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	long, err := io.ReadAll(trailing)
	if err != nil {
		t.Fatal(err)
	}
	for what, l := range map[string]v1.Layer{
		"a large file": layerOf(t, tar.Header{Name: "large", Size: 200 << 10}), "many files": layerOf(t, many...), "folders without entries": layerOf(t, deep), "a long end": rawLayer(t, append(long, make([]byte, 300<<10)...)),
	} {
		id, err := l.DiffID()
		if err != nil {
			t.Fatal(err)
		}
		u := unpacking{dir: dir, root: root, left: 100 << 10, folders: map[string]finalAttributes{}}
		if err := u.layer(l, id); !errors.Is(err, errTooLarge) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestRecordsOfFoldersAreForgotten: a few bytes of an archive may stand for a megabyte of records, of each folder.
func TestRecordsOfFoldersAreForgotten(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	const count, size = 100, 500 << 10
	var all []tar.Header
	for i := range count {
		all = append(all, tar.Header{Name: fmt.Sprintf("%d/", i), Typeflag: tar.TypeDir, Format: tar.FormatPAX, PAXRecords: map[string]string{"X.note": strings.Repeat("x", size)}})
	}
	l := layerOf(t, all...)
	id, err := l.DiffID()
	if err != nil {
		t.Fatal(err)
	}
	u := unpacking{dir: dir, root: root, left: 1 << 30, folders: map[string]finalAttributes{}}
	before := live()
	if err := u.layer(l, id); err != nil {
		t.Fatal(err)
	}
	if more := live() - before; more > count*size/10 {
		t.Errorf("%d folders keep %d KiB", count, more>>10)
	}
	runtime.KeepAlive(l)
	runtime.KeepAlive(u.folders)
}

// live is how many bytes are in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestNames: a path that is too long or too deep is refused, also if a link makes it so. Nothing is made for it.
func TestNames(t *testing.T) {
	deep := strings.Repeat("f/", 200)
	link := tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: deep + "last"}
	for what, c := range map[string]struct {
		headers []tar.Header
		want    error
	}{
		"deep":                     {[]tar.Header{{Name: strings.Repeat("f/", 255) + "file"}}, nil},
		"too deep":                 {[]tar.Header{{Name: strings.Repeat("f/", 256) + "file"}}, errName},
		"far too deep":             {[]tar.Header{{Name: strings.Repeat("f/", 5_000) + "file"}}, errName},
		"too long":                 {[]tar.Header{{Name: strings.Repeat(strings.Repeat("n", 200)+"/", 25) + "file"}}, errName},
		"a link to the deep":       {[]tar.Header{link, {Name: "link/" + strings.Repeat("g/", 50) + "file"}}, nil},
		"a link to the too deep":   {[]tar.Header{link, {Name: "link/" + strings.Repeat("g/", 100) + "file"}}, errName},
		"one too deep by its link": {[]tar.Header{link, {Name: "link/" + strings.Repeat("g/", 55) + "file"}}, errName},
		"another name of the deep": {[]tar.Header{{Name: "other", Typeflag: tar.TypeLink, Linkname: strings.Repeat("f/", 300) + "file"}}, errName},
		"to hide what is too deep": {[]tar.Header{{Name: strings.Repeat("f/", 300) + ".wh.file"}}, errName},
	} {
		root := filepath.Join(t.TempDir(), "root")
		_, err := unpack(imageOf(t, layerOf(t, c.headers...)), root, false)
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %.200v", what, err)
		}
		if err != nil && len(err.Error()) > 2*maxName {
			t.Errorf("%s: the error has %d bytes", what, len(err.Error()))
		}
		if _, err := os.Lstat(filepath.Join(root, "f", "f")); err == nil && c.want != nil && len(c.headers) == 1 {
			t.Errorf("%s: folders were made", what)
		}
	}
}

// TestNoRoom: where the disk is almost full, the error says which disk, how much there is, and what is left for others.
func TestNoRoom(t *testing.T) {
	for name, c := range map[string]struct {
		free int64
		want []string
	}{
		"less than is left for others": {300 << 20, []string{"the disk of /images has 300 MiB free", "512 MiB free", "df -h"}},
		"a little more":                {600 << 20, []string{"the disk of /images has 600 MiB free"}},
		"enough":                       {2 * maxUnpacked, []string{"an image may have at most 64 GiB"}},
	} {
		r := room{"/images", c.free}
		u := unpacking{room: r, left: r.bytes()}
		err := u.add(&tar.Header{Name: "large", Size: 65 << 30}, nil)
		if !errors.Is(err, errTooLarge) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, text := range c.want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q is not in %q", name, text, err)
			}
		}
	}
}

// FuzzUnpack: no layer writes outside of its folder.
func FuzzUnpack(f *testing.F) {
	f.Add("a", "/etc", "a/b", "../../x", byte(tar.TypeSymlink), byte(tar.TypeLink))
	f.Add("a", "..", "a/../../b", "", byte(tar.TypeSymlink), byte(tar.TypeReg))
	f.Add("a/b", "../..", "a/b/.wh..", "", byte(tar.TypeSymlink), byte(tar.TypeReg))
	f.Add("a", "..", "a/.wh..wh..opq", "", byte(tar.TypeSymlink), byte(tar.TypeReg))
	f.Fuzz(func(t *testing.T, name, to, second, secondTo string, kind, secondKind byte) {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range []tar.Header{{Name: name, Linkname: to, Typeflag: kind}, {Name: second, Linkname: secondTo, Typeflag: secondKind}} {
			_ = w.WriteHeader(&h) // one that cannot be written does not exist
		}
		_ = w.Close()
		dir := t.TempDir()
		guard := filepath.Join(dir, "deep", "guard")
		if err := os.MkdirAll(guard, 0o755); err != nil {
			t.Fatal(err)
		}
		_, _ = unpack(imageOf(t, rawLayer(t, b.Bytes())), filepath.Join(dir, "deep", "root"), false) // refused or inside
		for folder, want := range map[string]int{dir: 1, filepath.Join(dir, "deep"): 2, guard: 0} {
			if all, err := os.ReadDir(folder); err != nil || len(all) != want {
				t.Fatalf("%s: %v (%v)", folder, all, err)
			}
		}
	})
}
