package safefs_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// place makes a folder with links in it, beside a folder that is outside.
func place(t *testing.T, links map[string]string) (inside, outside string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	inside, outside = filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, path := range []string{filepath.Join(inside, "config"), filepath.Join(inside, ".git", "hooks"), outside} {
		must(t, os.MkdirAll(path, 0o755))
	}
	must(t, os.WriteFile(filepath.Join(inside, "config", "there"), []byte("old"), 0o600))
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(inside, name)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	return inside, outside
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *safefs.Folder {
	t.Helper()
	f, err := safefs.OpenFolder(path)
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

// TestInside: what stays below the folder is written, and links stay links.
func TestInside(t *testing.T) {
	inside, _ := place(t, map[string]string{"link": "config", "file": "config/there", "config/up": "..", "dangling": "new/one", "around": "../in/config", "absolute": "ABSOLUTE"})
	must(t, os.Remove(filepath.Join(inside, "absolute")))
	must(t, os.Symlink(filepath.Join(inside, "config"), filepath.Join(inside, "absolute")))
	f := open(t, inside)
	for name, want := range map[string]string{
		"config/there": "config/there", "link/a/b": "config/a/b", "file": "config/there", "config/up/x": "x", "dangling": "new/one", "around/y": "config/y", "absolute/z": "config/z", "./config/../w": "w",
	} {
		must(t, f.WriteFile(name, []byte(name)))
		if data, err := os.ReadFile(filepath.Join(inside, filepath.FromSlash(want))); err != nil || string(data) != name {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if at, err := f.Resolve(name); err != nil || at != want {
			t.Errorf("%s leads to %q, %v, want %q", name, at, err, want)
		}
	}
	if info, err := os.Lstat(filepath.Join(inside, "file")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(filepath.Join(inside, "config", "there")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permissions are %v: %v", info.Mode(), err)
	}
}

// TestOutside: what leads out is refused, the link is named, and nothing is written.
func TestOutside(t *testing.T) {
	inside, outside := place(t, map[string]string{
		"folder": "../out", "file": "../out/file", "config/far": "../../out/new", "two": "folder", "hooks": ".git/hooks", "config/hook": "../.GIT/hooks/post-checkout",
		"absolute": "/tmp", "config/back": "../../out/../in/../out",
	})
	f := open(t, inside)
	for name, link := range map[string]string{
		"../out/x": "", "folder/x": "folder", "file": "file", "config/far": "config/far", "two/x": "folder", "hooks/post-checkout": "hooks", "config/hook": "config/hook",
		".git/config": "", "sub/.git/hooks/x": "", "absolute/x": "absolute", "config/back/x": "config/back", "config/../../out/x": "",
	} {
		err := f.WriteFile(name, []byte("mine"))
		out, ok := errors.AsType[*safefs.OutsideError](err)
		if !ok || out.Link != link || out.Path != name || !filepath.IsAbs(out.Leads) {
			t.Errorf("%s: %v (%+v)", name, err, out)
		}
		if dir := filepath.ToSlash(filepath.Dir(name)); f.Remove(name) == nil && dir != "." && dir != "config" {
			t.Errorf("%s was removed", name)
		}
	}
	for _, dir := range []string{outside, filepath.Join(inside, ".git", "hooks")} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%s has %v, %v", dir, entries, err)
		}
	}
}

// TestLoops end.
func TestLoops(t *testing.T) {
	inside, _ := place(t, map[string]string{"self": "self", "a": "b", "b": "a", "out": "../in/out"})
	f := open(t, inside)
	for _, name := range []string{"self", "a", "b/x", "out"} {
		if _, err := f.Resolve(name); !errors.Is(err, syscall.ELOOP) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStage: nothing is replaced before Place, and nothing stays after Discard.
func TestStage(t *testing.T) {
	inside, _ := place(t, nil)
	f := open(t, inside)
	s, err := f.Stage("config/there", []byte("new"))
	must(t, err)
	if data, err := os.ReadFile(filepath.Join(inside, "config", "there")); err != nil || string(data) != "old" {
		t.Errorf("%q, %v", data, err)
	}
	s.Discard()
	if entries, err := os.ReadDir(filepath.Join(inside, "config")); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestSet: a link from one folder to another one that may be written too is followed, and one to a third is not.
func TestSet(t *testing.T) {
	inside, outside := place(t, map[string]string{"folder": "../out", "config/third": "../../third"})
	must(t, os.Mkdir(filepath.Join(inside, "..", "third"), 0o755))
	s, err := safefs.OpenFolders(inside, outside)
	must(t, err)
	defer s.Close()
	for path, want := range map[string]string{"in/config/x": inside + "/config/x", "in/folder/x": outside + "/x", "out/x": outside + "/x", "in/folder/../config/y": inside + "/config/y"} {
		f, name, err := s.Find(filepath.Join(inside, "..") + "/" + path)
		if err != nil || f.Path()+"/"+name != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	for path, link := range map[string]string{"in/config/third/x": "config/third", "third/x": "", "in/../x": ""} {
		_, _, err := s.Find(filepath.Join(inside, "..", path))
		if out, ok := errors.AsType[*safefs.OutsideError](err); !ok || out.Link != link || out.Folder != inside {
			t.Errorf("%s: %v", path, err)
		}
	}
}
