package transaction_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/transaction"
)

// A fault is a disk that works until its n-th change, counted from 0. What happens then
// depends on its kind.
type fault struct {
	transaction.OS
	kind string // "dead": nothing works any more; "once": that one change fails; "full": nothing can be written any more
	at   int
	seen int
}

// key seals the runs of these tests.
var key = transaction.Key("a key of this machine and user …")

var errDead = errors.New("the process is dead")

// next counts a change and returns why it does not happen, if it does not.
func (f *fault) next(writes bool) error {
	n := f.seen
	f.seen++
	switch {
	case f.kind == "dead" && n >= f.at:
		return errDead
	case f.kind == "once" && n == f.at:
		return fs.ErrPermission
	case f.kind == "full" && n >= f.at && writes:
		return syscall.ENOSPC
	}
	return nil
}

// WriteFile leaves a half of the file when the process dies.
func (f *fault) WriteFile(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	err := f.next(true)
	if errors.Is(err, errDead) && f.seen-1 == f.at {
		return errors.Join(err, f.OS.WriteFile(root, name, data[:len(data)/2], mode))
	}
	if err != nil {
		return err
	}
	return f.OS.WriteFile(root, name, data, mode)
}

func (f *fault) Rename(root *os.Root, from, to string) error {
	if err := f.next(false); err != nil {
		return err
	}
	return f.OS.Rename(root, from, to)
}

func (f *fault) Remove(root *os.Root, name string) error {
	if err := f.next(false); err != nil {
		return err
	}
	return f.OS.Remove(root, name)
}

func (f *fault) Mkdir(root *os.Root, name string) error {
	if err := f.next(true); err != nil {
		return err
	}
	return f.OS.Mkdir(root, name)
}

// project makes a folder with the files that the changes of a run expect.
func project(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, mode := range map[string]fs.FileMode{"main.go": 0o600, "gone/old.go": 0o750, "gone/too": 0o644, "gone/all/of/it": 0o644, "gone/all/of/them": 0o644, "kept": 0o644, "left/moved.go": 0o640} {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte("before "+name), mode))
		must(t, os.Chmod(path, mode))
	}
	return root
}

// changes are one of each kind.
func changes() []transaction.File {
	return []transaction.File{
		{Path: "deep/er/new", After: []byte("new")},
		{Path: "main.go", Exists: true, Before: []byte("before main.go"), After: []byte("after")},
		{Path: "gone/old.go", Exists: true, Before: []byte("before gone/old.go"), Delete: true},
		{Path: "gone/too", Exists: true, Before: []byte("before gone/too"), Delete: true},
		{Path: "gone/all/of/it", Exists: true, Before: []byte("before gone/all/of/it"), Delete: true},
		{Path: "gone/all/of/them", Exists: true, Before: []byte("before gone/all/of/them"), Delete: true},
		{Path: "deep/empty", After: nil, Mode: 0o755},
		{Path: "deep/down/moved.go", From: "left/moved.go", Before: []byte("before left/moved.go")},
		{Path: ".slipway/base", After: []byte("base")},
	}
}

// snapshot maps each file below root to its mode and content, and each folder to "dir".
func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			all[rel] = "dir"
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		all[rel] = info.Mode().String() + " " + string(data)
		return err
	}))
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// same fails unless the folder is as it was.
func same(t *testing.T, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestRun(t *testing.T) {
	root := project(t)
	must(t, transaction.Run(transaction.OS{}, root, key, changes()))
	same(t, map[string]string{
		"main.go": "-rw------- after", "kept": "-rw-r--r-- before kept", "deep": "dir", "deep/er": "dir", "deep/er/new": "-rw-r--r-- new",
		"deep/empty": "-rwxr-xr-x ", "deep/down": "dir", "deep/down/moved.go": "-rw-r----- before left/moved.go", ".slipway": "dir", ".slipway/base": "-rw-r--r-- base",
	}, snapshot(t, root))
}

// TestKilled: whenever the process dies, Recover leaves the folder as it was before or
// as it is after the run, and so does a Recover that follows one that died too.
func TestKilled(t *testing.T) {
	counting := &fault{kind: "none"}
	finished := project(t)
	must(t, transaction.Run(counting, finished, key, changes()))
	after, before := snapshot(t, finished), snapshot(t, project(t))
	undone := 0
	for at := range counting.seen {
		for again := at % 9; again < counting.seen; again += 9 { // all of them, in turns
			root := project(t)
			_ = transaction.Run(&fault{kind: "dead", at: at}, root, key, changes())
			_, _ = transaction.Recover(&fault{kind: "dead", at: again}, root, key)
			_, err := transaction.Recover(transaction.OS{}, root, key)
			must(t, err)
			got := snapshot(t, root)
			if got["main.go"] == after["main.go"] {
				same(t, after, got)
				continue
			}
			undone++
			same(t, before, got)
			must(t, transaction.Run(transaction.OS{}, root, key, changes()))
			same(t, after, snapshot(t, root))
		}
	}
	if undone == 0 || counting.seen < 20 {
		t.Errorf("%d runs of %d changes were taken back: the test shows nothing", undone, counting.seen)
	}
}

// TestFails: whichever change is refused, or when the disk is full from it on, the folder
// is as before or as after, and the error says which.
func TestFails(t *testing.T) {
	counting := &fault{kind: "none"}
	finished := project(t)
	must(t, transaction.Run(counting, finished, key, changes()))
	after, before := snapshot(t, finished), snapshot(t, project(t))
	for _, kind := range []string{"once", "full"} {
		for at := range counting.seen {
			root := project(t)
			err := transaction.Run(&fault{kind: kind, at: at}, root, key, changes())
			if stuck := new(transaction.StuckError); errors.As(err, &stuck) {
				t.Fatalf("%s at %d: %v", kind, at, err)
			}
			_, recovered := transaction.Recover(transaction.OS{}, root, key) // a leftover of clearing up
			must(t, recovered)
			got := snapshot(t, root)
			if err != nil {
				var fe *transaction.FileError
				if !errors.As(err, &fe) || fe.Path == "" {
					t.Errorf("%s at %d: no file is named: %v", kind, at, err)
				}
				same(t, before, got)
				continue
			}
			delete(got, "gone") // empty folders that could not be removed
			delete(got, "left")
			same(t, after, got)
		}
	}
}

// TestStuck: a run that fails and cannot be taken back says so, and is taken back later.
func TestStuck(t *testing.T) {
	root := project(t)
	before := snapshot(t, root)
	err := transaction.Run(&fault{kind: "dead", at: 17}, root, key, changes())
	stuck, ok := errors.AsType[*transaction.StuckError](err)
	if !ok || !errors.Is(err, errDead) || stuck.Cause == nil {
		t.Fatalf("got %v", err)
	}
	if !transaction.Interrupted(root) {
		t.Error("nothing is left to take back")
	}
	restored, err := transaction.Recover(transaction.OS{}, root, key)
	must(t, err)
	if len(restored) == 0 || transaction.Interrupted(root) {
		t.Errorf("restored %v", restored)
	}
	same(t, before, snapshot(t, root))
}

// TestRecoverKeepsLaterEdits: what somebody wrote after the run was killed stays.
func TestRecoverKeepsLaterEdits(t *testing.T) {
	root := project(t)
	before := snapshot(t, root)
	_ = transaction.Run(&fault{kind: "dead", at: 19}, root, key, changes())
	must(t, os.WriteFile(filepath.Join(root, "main.go"), []byte("mine"), 0o600))
	restored, err := transaction.Recover(transaction.OS{}, root, key)
	must(t, err)
	if slices.Contains(restored, "main.go") {
		t.Errorf("restored %v", restored)
	}
	before["main.go"] = "-rw------- mine"
	same(t, before, snapshot(t, root))
}

// TestRunRefusesChangedFiles: what was written after planning stays, and nothing is left.
func TestRunRefusesChangedFiles(t *testing.T) {
	for _, path := range []string{"main.go", "deep/er/new", "gone/old.go", "left/moved.go", "deep/down/moved.go"} {
		root := project(t)
		must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, path), []byte("theirs"), 0o644))
		before := snapshot(t, root)
		err := transaction.Run(transaction.OS{}, root, key, changes())
		if changed, ok := errors.AsType[*transaction.ChangedError](err); !ok || changed.Path != path {
			t.Errorf("%s: got %v", path, err)
		}
		same(t, before, snapshot(t, root))
	}
}

// TestRunRefusesOverlap: a run that is not over is not touched by another one.
func TestRunRefusesOverlap(t *testing.T) {
	root := project(t)
	_ = transaction.Run(&fault{kind: "dead", at: 19}, root, key, changes())
	before := snapshot(t, root)
	if err := transaction.Run(transaction.OS{}, root, key, changes()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	same(t, before, snapshot(t, root))
}

// TestRecoverKeepsLaterFiles: when a run that moved and deleted files was killed, and somebody has put others in their
// places since, or removed the moved one, these stay as they are.
func TestRecoverKeepsLaterFiles(t *testing.T) {
	placed := 0
	counting := &fault{kind: "none"}
	must(t, transaction.Run(counting, project(t), key, changes()))
	for at := range counting.seen {
		root := project(t)
		_ = transaction.Run(&fault{kind: "dead", at: at}, root, key, changes())
		if _, err := os.Lstat(filepath.Join(root, "deep/down/moved.go")); err != nil {
			continue
		}
		if _, err := os.Lstat(filepath.Join(root, ".slipway/pending/journal")); err != nil {
			continue // the run was over
		}
		placed++
		for name, text := range map[string]string{"left/moved.go": "mine", "gone/old.go": "mine too"} {
			must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
			must(t, os.Chmod(filepath.Join(root, name), 0o644)) // whatever the umask is
		}
		_, err := transaction.Recover(transaction.OS{}, root, key)
		must(t, err)
		got := snapshot(t, root)
		if got["left/moved.go"] != "-rw-r--r-- mine" || got["gone/old.go"] != "-rw-r--r-- mine too" || got["deep/down/moved.go"] != "-rw-r----- before left/moved.go" {
			t.Errorf("killed at %d: %v", at, got)
		}
	}
	if placed == 0 {
		t.Error("the run was never killed after the move: the test shows nothing")
	}
}

// TestNothingToDo writes nothing at all.
func TestNothingToDo(t *testing.T) {
	root := t.TempDir()
	must(t, transaction.Run(transaction.OS{}, root, key, nil))
	restored, err := transaction.Recover(transaction.OS{}, root, key)
	must(t, err)
	if len(snapshot(t, root)) != 0 || len(restored) != 0 {
		t.Errorf("there is %v", snapshot(t, root))
	}
}
