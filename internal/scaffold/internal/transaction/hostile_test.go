//go:build unix

package transaction

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/safefs"
)

var ours = Key("a key of this machine and user …")

// dies is a disk that stops working at the n-th change.
type dies struct {
	OS
	at int
}

var errDead = errors.New("the process is dead")

func (d *dies) alive() error {
	if d.at--; d.at < 0 {
		return errDead
	}
	return nil
}

func (d *dies) WriteFile(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	return errors.Join(d.alive(), d.OS.WriteFile(root, name, data, mode))
}

func (d *dies) Rename(root *os.Root, from, to string) error {
	if err := d.alive(); err != nil {
		return err
	}
	return d.OS.Rename(root, from, to)
}

func (d *dies) Remove(root *os.Root, name string) error {
	if err := d.alive(); err != nil {
		return err
	}
	return d.OS.Remove(root, name)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o755))
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// halfDone is a project in which a run was killed after it had replaced a and before it replaced b.
func halfDone(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	put(t, root, "a", "old a")
	put(t, root, "b", "old b")
	must(t, os.Mkdir(filepath.Join(root, ".slipway"), 0o755))
	err := Run(&dies{at: 8}, root, ours, []File{
		{Path: "a", Exists: true, Before: []byte("old a"), After: []byte("new a")},
		{Path: "b", Exists: true, Before: []byte("old b"), After: []byte("new b")},
	})
	if stuck, ok := errors.AsType[*StuckError](err); !ok || text(t, filepath.Join(root, "a")) != "new a" || text(t, filepath.Join(root, "b")) != "old b" {
		t.Fatalf("the run is not half done: %v, %v", stuck, err)
	}
	return root
}

// forged is a journal that restores a file which it says was made anew, in the place of target.
func forged(t *testing.T, target string) []byte {
	t.Helper()
	data, err := json.Marshal(journal{Files: []entry{{Path: "a", Target: target, Before: digest([]byte("#!/bin/sh\ntouch owned\n"))}}})
	must(t, err)
	return data
}

// TestForgedJournal: a repository that carries a journal has nothing of it done, whoever sealed it, and keeps all its
// files.
func TestForgedJournal(t *testing.T) {
	for _, name := range []string{journalFile, doneFile, pending + "/0.new", ownerFile} {
		for _, target := range []string{".git/hooks/post-checkout", "../outside", "/tmp/outside"} {
			for how, sealed := range map[string]func([]byte) []byte{
				"as it was": func(data []byte) []byte { return data }, "with another key": func(data []byte) []byte { return seal(data, Key("a key of theirs")) },
				"with no key": func(data []byte) []byte { return seal(data, nil) },
			} {
				root := filepath.Join(t.TempDir(), "project")
				put(t, root, ".git/config", "")
				put(t, root, pending+"/0.old", "#!/bin/sh\ntouch owned\n")
				put(t, root, name, string(sealed(forged(t, target))))
				restored, err := Recover(OS{}, root, ours)
				if foreign, ok := errors.AsType[*ForeignError](err); !ok || foreign.Path == "" || len(restored) > 0 {
					t.Errorf("%s to %s, sealed %s: restored %v, %v", name, target, how, restored, err)
				}
				for _, path := range []string{filepath.Join(root, ".git/hooks"), filepath.Join(root, "../outside")} {
					if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s: %s was written: %v", how, path, err)
					}
				}
				text(t, filepath.Join(root, pending, "0.old"))
			}
		}
	}
}

// TestCopied: the copy of a half-done project changes neither the original nor itself, and says so; the original is
// still taken back.
func TestCopied(t *testing.T) {
	root := halfDone(t)
	copied := filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(copied, os.DirFS(root)))
	if _, err := Recover(OS{}, copied, ours); !errors.Is(err, ErrCopied) {
		t.Errorf("got %v", err)
	}
	for _, folder := range []string{root, copied} {
		if got := text(t, filepath.Join(folder, "a")); got != "new a" {
			t.Errorf("%s holds %q", folder, got)
		}
	}
	restored, err := Recover(OS{}, root, ours)
	must(t, err)
	if len(restored) != 1 || text(t, filepath.Join(root, "a")) != "old a" || text(t, filepath.Join(copied, "a")) != "new a" {
		t.Errorf("restored %v", restored)
	}
}

// TestMoved: a project that was renamed is the same one.
func TestMoved(t *testing.T) {
	root := halfDone(t)
	moved := root + "-moved"
	must(t, os.Rename(root, moved))
	restored, err := Recover(OS{}, moved, ours)
	if err != nil || len(restored) != 1 {
		t.Errorf("restored %v, %v", restored, err)
	}
}

// TestOtherKey: another user, or a container, leaves what a run of ours is doing alone, and may not run either.
func TestOtherKey(t *testing.T) {
	root := halfDone(t)
	for _, key := range []Key{nil, Key("theirs")} {
		if _, err := Recover(OS{}, root, key); !errors.Is(err, errNotOurs) {
			t.Errorf("got %v", err)
		}
		if err := Run(OS{}, root, key, []File{{Path: "c"}}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("got %v", err)
		}
	}
	restored, err := Recover(OS{}, root, ours)
	if err != nil || len(restored) != 1 {
		t.Errorf("restored %v, %v", restored, err)
	}
}

// TestKeptIsChanged: what is kept for a file is put back only as it was.
func TestKeptIsChanged(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("old a"), 0o644))
	for name, change := range map[string]func(path string) error{
		"text":     func(path string) error { return os.WriteFile(path, []byte("#!/bin/sh"), 0o755) },
		"a link":   func(path string) error { return errors.Join(os.Remove(path), os.Symlink(outside, path)) },
		"a pipe":   func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o644)) },
		"a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
		"gone":     os.Remove,
	} {
		root := halfDone(t)
		must(t, change(filepath.Join(root, pending, "0.old")))
		_, err := Recover(OS{}, root, ours)
		if fe, ok := errors.AsType[*FileError](err); !ok || fe.Path != "a" || text(t, filepath.Join(root, "a")) != "new a" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	root := halfDone(t)
	must(t, os.Chmod(filepath.Join(root, pending, "0.old"), 0o777))
	must(t, os.Chmod(filepath.Join(root, "a"), 0o600))
	_, err := Recover(OS{}, root, ours)
	must(t, err)
	if info, err := os.Lstat(filepath.Join(root, "a")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

// TestLinkedTarget: a link that was put in the place of a file, or of a folder around it, since the run is not followed
// out.
func TestLinkedTarget(t *testing.T) {
	for _, linked := range []string{"a", "."} {
		root := halfDone(t)
		outside := t.TempDir()
		put(t, outside, "a", "new a") // as the run made it
		if linked == "a" {
			must(t, os.Remove(filepath.Join(root, "a")))
			must(t, os.Symlink(filepath.Join(outside, "a"), filepath.Join(root, "a")))
		} else {
			must(t, os.Rename(filepath.Join(root, ".slipway"), filepath.Join(outside, ".slipway")))
			must(t, os.Symlink(filepath.Join(outside, ".slipway"), filepath.Join(root, ".slipway")))
		}
		_, err := Recover(OS{}, root, ours)
		if _, foreign := errors.AsType[*ForeignError](err); foreign != (linked == ".") || err != nil && !foreign {
			t.Errorf("%s: got %v", linked, err)
		}
		if got := text(t, filepath.Join(outside, "a")); got != "new a" {
			t.Errorf("%s: outside is %q", linked, got)
		}
	}
}

// TestRunStaysInside: no link leads a run out of the folder, its own folder may be no link, and pipes are not read.
func TestRunStaysInside(t *testing.T) {
	for name, c := range map[string]struct{ link, to string }{
		"a file": {"f", "../out/f"}, "a folder": {"config", "../out"}, "git's": {"f", ".git/hooks/post-checkout"}, "slipway's": {".slipway", "../out"}, "its base": {".slipway/base", "../../out/f"},
	} {
		dir := t.TempDir()
		root := filepath.Join(dir, "project")
		put(t, root, ".git/config", "")
		put(t, dir, "out/f", "precious")
		must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(c.link)), 0o755))
		must(t, os.Symlink(c.to, filepath.Join(root, c.link)))
		for _, path := range []string{"f", "config/x", ".slipway/base"} {
			if data, err := os.ReadFile(filepath.Join(root, path)); c.link != ".slipway" && !strings.HasPrefix(path, c.link) {
				continue
			} else if err := Run(OS{}, root, ours, []File{{Path: path, Exists: err == nil, Before: data, After: []byte("new")}}); err == nil {
				t.Errorf("%s: %s was written", name, path)
			}
		}
		if entries, err := os.ReadDir(filepath.Join(dir, "out")); err != nil || len(entries) != 1 || text(t, filepath.Join(dir, "out", "f")) != "precious" {
			t.Errorf("%s: outside are %v, %v", name, entries, err)
		}
		if _, err := os.Lstat(filepath.Join(root, ".git", "hooks")); err == nil {
			t.Errorf("%s: git has hooks", name)
		}
	}
	root := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644))
	if err := Run(OS{}, root, ours, []File{{Path: "pipe", Exists: true}}); !errors.Is(err, errNoFile) {
		t.Errorf("a pipe: %v", err)
	}
}

// TestKey: there is one key, for its user alone; what others could have read or made is none.
func TestKey(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "own")
	key, err := ReadKey(folder)
	must(t, err)
	again, err := ReadKey(folder)
	must(t, err)
	info, err := os.Lstat(filepath.Join(folder, "key"))
	if err != nil || len(key) != keySize || string(again) != string(key) || info.Mode().Perm() != 0o600 {
		t.Errorf("%d bytes, %v, %v", len(key), info.Mode(), err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	must(t, os.Chmod(filepath.Join(folder, "key"), 0o644))
	other, err := ReadKey(folder)
	if err != nil || string(other) == string(key) || len(other) != keySize {
		t.Errorf("%x, %v", other, err)
	}
}

// FuzzJournal: what is not sealed is refused, and of what is sealed no name leads out of the folder, or to git's files.
func FuzzJournal(f *testing.F) {
	for _, target := range []string{"a", "config/a", "../a", "/a", ".git/a", ".slipway/pending/a", "a/../../b", "."} {
		data, err := json.Marshal(journal{Files: []entry{{Path: target, Target: target, From: target, Source: target, Mode: 0o755}}, Dirs: []string{target}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(seal(data, Key("theirs")))
	}
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := parse(data, ours); err == nil {
			t.Fatal("it is not sealed")
		}
		j, err := parse(seal(data, ours), ours)
		if err != nil {
			return
		}
		names := j.Dirs
		for _, e := range j.Files {
			names = append(names, e.Path, e.Target, e.From, e.Source)
			if e.Mode&^fs.ModePerm != 0 {
				t.Errorf("mode %v", e.Mode)
			}
		}
		for _, name := range names {
			if name == "" {
				continue
			}
			if !filepath.IsLocal(name) || strings.HasPrefix(name, pending+"/") || name == pending || safefs.IsGit(strings.Split(name, "/")[0]) {
				t.Errorf("%q", name)
			}
		}
	})
}
