package fileview_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/yamlsize"
)

// TestDisk: the view behaves as a file system, keeps what it has read, and shows nothing outside the project.
func TestDisk(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "api"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("Makefile", "all:\n")
	write("api/types.go", "package api\n")
	view := fileview.Disk(root)
	if err := fstest.TestFS(view, "Makefile", "api/types.go"); err != nil {
		t.Error(err)
	}
	write("Makefile", "changed\n")
	first, err := view.ReadFile("Makefile")
	if err != nil || string(first) != "all:\n" {
		t.Errorf("got %q, %v", first, err)
	}
	first[0] = 'x'
	if again, err := view.ReadFile("Makefile"); string(again) != "all:\n" {
		t.Errorf("a caller changed what others get: %q, %v", again, err)
	}
	if there, err := fileview.Exists(view, "PROJECT"); there || err != nil {
		t.Errorf("got %v, %v", there, err)
	}
	for _, name := range []string{"../x", "/etc/passwd", "api/../Makefile", ""} {
		if _, err := view.ReadFile(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

// TestLinks: links lead to files of the repository, and neither out of it nor to what git keeps.
func TestLinks(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "repository", "op")
	if err := errors.Join(os.MkdirAll(root, 0o755), os.Mkdir(filepath.Join(top, "repository", ".git"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, place := range map[string]string{"secret": "secret", "shared": "repository/shared", "config": "repository/.git/config"} {
		target := filepath.Join(top, filepath.FromSlash(place))
		if err := errors.Join(os.WriteFile(target, []byte(name), 0o600), os.Symlink(target, filepath.Join(root, name))); err != nil {
			t.Fatal(err)
		}
	}
	view := fileview.Disk(root)
	if text, err := view.ReadFile("shared"); string(text) != "shared" {
		t.Errorf("shared: got %q, %v", text, err)
	}
	for _, name := range []string{"secret", "config"} {
		if text, err := view.ReadFile(name); !errors.Is(err, fileview.ErrOutside) {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
		if f, err := view.Open(name); !errors.Is(err, fileview.ErrOutside) {
			t.Errorf("%s: got %v, %v", name, f, err)
		}
		if text, err := fileview.ReadPath(view, filepath.Join(root, name)); !errors.Is(err, fileview.ErrOutside) {
			t.Errorf("%s by its path: got %q, %v", name, text, err)
		}
	}
	if text, err := fileview.ReadPath(view, filepath.Join(top, "secret")); string(text) != "secret" {
		t.Errorf("what is not in the project: got %q, %v", text, err)
	}
}

// TestLinkedFolder: a folder may lead out as well, and what is below it with it.
func TestLinkedFolder(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "op")
	if err := errors.Join(os.MkdirAll(filepath.Join(top, "other", "deep"), 0o755), os.Mkdir(root, 0o755),
		os.WriteFile(filepath.Join(top, "other", "deep", "secret"), nil, 0o600), os.Symlink("../other", filepath.Join(root, "linked"))); err != nil {
		t.Fatal(err)
	}
	view := fileview.Disk(root)
	for range 2 { // the second time the folder is known
		if _, err := view.ReadFile("linked/deep/secret"); !errors.Is(err, fileview.ErrOutside) {
			t.Errorf("got %v", err)
		}
	}
}

// TestRenewed: a later view shows what changed since, and reads nothing else again.
func TestRenewed(t *testing.T) {
	root, old := t.TempDir(), time.Now().Add(-time.Hour)
	write := func(name, content string) {
		file := filepath.Join(root, name)
		if err := errors.Join(os.WriteFile(file+".new", []byte(content), 0o644), os.Chtimes(file+".new", old, old), os.Rename(file+".new", file)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"same", "replaced", "gone"} {
		write(name, "first")
	}
	view := fileview.Disk(root)
	for _, name := range []string{"same", "replaced", "gone", "new"} {
		_, _ = view.ReadFile(name)
	}
	write("replaced", "again")
	write("new", "again")
	if err := os.Remove(filepath.Join(root, "gone")); err != nil {
		t.Fatal(err)
	}
	view = view.Renewed().Renewed()
	for name, want := range map[string]string{"same": "first", "replaced": "again", "new": "again", "gone": ""} {
		if got, err := view.ReadFile(name); string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// TestDiskLimits: YAML that would fill the memory is not read, and other files of the same text are.
func TestDiskLimits(t *testing.T) {
	root := t.TempDir()
	deep := []byte(strings.Repeat("[", yamlsize.Deepest+1))
	deep = append(deep, bytes.ReplaceAll(deep, []byte("["), []byte("]"))...)
	for name, refused := range map[string]bool{"a.yaml": true, "a.yml": true, "PROJECT": true, "Kustomization": true, "a.go": false} {
		if err := os.WriteFile(filepath.Join(root, name), deep, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := fileview.Disk(root).ReadFile(name)
		if _, is := errors.AsType[*yamlsize.DepthError](err); is != refused || !refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestContains: a text is found in a file that is there.
func TestContains(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "doc.go"), []byte("//go:generate x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	view := fileview.Disk(root)
	for _, test := range []struct {
		name, text string
		want       bool
		err        error
	}{
		{"doc.go", "//go:generate", true, nil},
		{"doc.go", "//go:build", false, nil},
		{"new.go", "//go:generate", false, fs.ErrNotExist},
		{"../doc.go", "//go:generate", false, fs.ErrInvalid},
	} {
		has, err := view.Contains(test.name, []byte(test.text))
		if has != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: got %v, %v", test.name, has, err)
		}
	}
}

// TestKept: a view gives what it has read, as long as the file is the same, and reads nothing itself.
func TestKept(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "crd.yaml")
	write := func(text string, age time.Duration) fs.FileInfo {
		then := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	view, info := fileview.Disk(root), write("a: 1\n", time.Hour)
	if _, is := fileview.Kept(view, path, info); is {
		t.Error("a file is kept that no one has read")
	}
	if _, err := view.ReadFile("crd.yaml"); err != nil {
		t.Fatal(err)
	}
	if text, is := fileview.Kept(view, path, info); !is || string(text) != "a: 1\n" {
		t.Errorf("got %q, %v", text, is)
	}
	if text, is := fileview.Kept(view, path, write("a: 2\n", time.Minute)); is {
		t.Errorf("got %q of another file", text)
	}

	// What its caller has read is kept as well, but not what lies elsewhere.
	next := view.Renewed()
	info = write("a: 3\n", time.Hour)
	fileview.Keep(next, path, info, []byte("a: 3\n"))
	if text, is := fileview.Kept(next, path, info); !is || string(text) != "a: 3\n" {
		t.Errorf("got %q, %v", text, is)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if text, err := next.ReadFile("crd.yaml"); err != nil || string(text) != "a: 3\n" {
		t.Errorf("got %q, %v", text, err)
	}
	fileview.Keep(next, filepath.Join(filepath.Dir(root), "other"), info, []byte("b"))
}

// TestKeepDeep: YAML that is too deep for parsers is not shown, whoever has read it first.
func TestKeepDeep(t *testing.T) {
	root := t.TempDir()
	path, text := filepath.Join(root, "deep.yaml"), []byte(strings.Repeat("[", 2000)+strings.Repeat("]", 2000))
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	view := fileview.Disk(root)
	fileview.Keep(view, path, info, text)
	for _, v := range []*fileview.Folder{view, view.Renewed()} {
		_, err := v.ReadFile("deep.yaml")
		if _, is := errors.AsType[*yamlsize.DepthError](err); !is {
			t.Errorf("got %v", err)
		}
	}
}
