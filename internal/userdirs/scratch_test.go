package userdirs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/userdirs"
)

const (
	prefix = "scratch-test-"
	waits  = "SCRATCH_TEST_WAITS"
)

// TestMain has the test binary be a command that makes a folder and then waits.
func TestMain(m *testing.M) {
	if os.Getenv(waits) == "" {
		os.Exit(m.Run())
	}
	f, err := userdirs.NewScratch(prefix)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(f.Path)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// begin starts such a command and returns its folder.
func begin(t *testing.T) (folder string, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), waits+"=yes"), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Scan()
	return lines.Text(), cmd
}

// kill ends such a command the hard way.
func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

// alone gives the test a folder for temporary files of its own.
func alone(t *testing.T) (temp string) {
	t.Helper()
	temp = t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	return temp
}

func there(folder string) bool {
	_, err := os.Lstat(folder)
	return err == nil
}

// TestKilled: the folder of a command that was killed goes with the next one, and that of one which runs stays.
func TestKilled(t *testing.T) {
	alone(t)
	running, _ := begin(t)
	killed, cmd := begin(t)
	if err := os.MkdirAll(filepath.Join(killed, "below", "that"), 0o700); err != nil {
		t.Fatal(err)
	}
	kill(t, cmd)
	f, err := userdirs.NewScratch(prefix)
	if err != nil {
		t.Fatal(err)
	}
	if there(killed) || !there(running) || !there(f.Path) {
		t.Errorf("that of the killed command is there: %t; of the other: %t; the new one: %t", there(killed), there(running), there(f.Path))
	}
	if err := f.Remove(); err != nil || there(f.Path) {
		t.Errorf("after its removal the folder is there: %v", err)
	}
}

// TestUsersFolders: what a user has under such a name stays, however old it is, with a free lock and without one. So
// does what the user made of a folder of slipway's: a copy, one that was renamed, and a copy in the place of the
// folder.
func TestUsersFolders(t *testing.T) {
	temp := alone(t)
	project, locked, link, outside := filepath.Join(temp, prefix+"drive"), filepath.Join(temp, prefix+"locked"), filepath.Join(temp, prefix+"link"), filepath.Join(temp, "outside")
	copied, renamed, linked := filepath.Join(temp, prefix+"copy"), filepath.Join(temp, prefix+"renamed"), filepath.Join(temp, prefix+"linked")
	mine := []string{project, locked, link, outside, copied, renamed, linked}
	if err := errors.Join(os.Mkdir(project, 0o700), os.Mkdir(locked, 0o700), os.Mkdir(outside, 0o700), os.Symlink(outside, link),
		os.WriteFile(filepath.Join(project, "go.mod"), nil, 0o644), os.WriteFile(filepath.Join(locked, ".in-use"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for i, change := range []func(left string) error{
		func(left string) error { return os.CopyFS(copied, os.DirFS(left)) },
		func(left string) error { return os.Rename(left, renamed) },
		func(left string) error {
			return errors.Join(os.Rename(left, filepath.Join(temp, "kept")), os.Symlink(filepath.Join(temp, "kept"), left), os.Symlink(left, linked))
		},
		func(left string) error {
			mine = append(mine, left)
			return errors.Join(os.Rename(left, filepath.Join(temp, "original")), os.CopyFS(left, os.DirFS(filepath.Join(temp, "original"))), private(left))
		},
	} {
		left, cmd := begin(t)
		kill(t, cmd)
		if err := change(left); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := private(copied); err != nil {
		t.Fatal(err)
	}
	mine = append(mine, filepath.Join(temp, "kept"), filepath.Join(temp, "original"))
	before := time.Now().Add(-30 * 24 * time.Hour)
	for _, path := range mine {
		_ = os.Chtimes(path, before, before) // a link may lead nowhere
	}
	if _, err := userdirs.NewScratch(prefix); err != nil {
		t.Fatal(err)
	}
	for _, path := range mine {
		if !there(path) {
			t.Errorf("%s is gone", filepath.Base(path))
		}
	}
}

// private makes a copy as exact as cp -a does.
func private(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
}

// TestOpenToOthers: a mark that another user can have written proves nothing.
func TestOpenToOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("users have their own folders for temporary files there")
	}
	alone(t)
	for name, change := range map[string]func(folder string) error{
		"a folder that others may read": func(folder string) error { return os.Chmod(folder, 0o755) },
		"a mark that others may write":  func(folder string) error { return os.Chmod(filepath.Join(folder, ".slipway-folder"), 0o602) },
		"a mark that is a link":         func(folder string) error { return relink(folder, ".slipway-folder") },
		"a lock that is a link":         func(folder string) error { return relink(folder, ".in-use") },
		"no mark":                       func(folder string) error { return os.Remove(filepath.Join(folder, ".slipway-folder")) },
		"no lock, which proves nothing": func(folder string) error { return os.Remove(filepath.Join(folder, ".in-use")) },
		"a mark that was cut off":       func(folder string) error { return os.Truncate(filepath.Join(folder, ".slipway-folder"), 10) },
		"a mark larger than any":        func(folder string) error { return os.Truncate(filepath.Join(folder, ".slipway-folder"), 1<<30) },
		"a folder of another user":      func(folder string) error { return os.Lchown(folder, 1, -1) },
		"a mark of another user":        func(folder string) error { return os.Lchown(filepath.Join(folder, ".slipway-folder"), 1, -1) },
		"a pipe in the place of a mark": func(folder string) error { return pipe(folder, ".slipway-folder") },
		"a pipe in the place of a lock": func(folder string) error { return pipe(folder, ".in-use") },
		"a folder in that of the lock": func(folder string) error {
			return errors.Join(os.Remove(filepath.Join(folder, ".in-use")), os.Mkdir(filepath.Join(folder, ".in-use"), 0o700))
		},
	} {
		left, cmd := begin(t)
		kill(t, cmd)
		if err := change(left); errors.Is(err, os.ErrPermission) {
			continue // only root gives files away
		} else if err != nil {
			t.Fatal(name, err)
		}
		userdirs.Sweep(filepath.Dir(left), prefix)
		if !there(left) {
			t.Errorf("%s: it is gone", name)
		}
	}
}

// relink puts a link to the same file in the place of a file.
func relink(folder, name string) error {
	return errors.Join(os.Rename(filepath.Join(folder, name), filepath.Join(folder, "real")), os.Symlink("real", filepath.Join(folder, name)))
}

// pipe puts a pipe, whose opening never ends, in the place of a file.
func pipe(folder, name string) error {
	path := filepath.Join(folder, name)
	if err := os.Remove(path); err != nil {
		return err
	}
	return exec.Command("mkfifo", path).Run()
}

// TestSweepsAtOnce: any number of commands that tidy up and make folders at the same time remove what is left over, and
// nothing of each other's.
func TestSweepsAtOnce(t *testing.T) {
	temp := alone(t)
	for range 5 {
		left, cmd := begin(t)
		if err := os.WriteFile(filepath.Join(left, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		kill(t, cmd)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				f, err := userdirs.NewScratch(prefix)
				if err != nil {
					t.Error(err)
					return
				}
				err = errors.Join(os.WriteFile(filepath.Join(f.Path, "mine"), nil, 0o600), f.Remove())
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if entries, err := os.ReadDir(temp); err != nil || len(entries) > 0 {
		t.Errorf("there are still %v, %v", entries, err)
	}
}

// TestRemoveForeign: also whoever made a folder removes no other one that has come in its place.
func TestRemoveForeign(t *testing.T) {
	alone(t)
	f, err := userdirs.NewScratch(prefix)
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "kept")
	if err := errors.Join(os.Rename(f.Path, kept), os.Mkdir(f.Path, 0o700), os.WriteFile(filepath.Join(f.Path, "mine"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); !errors.Is(err, userdirs.ErrForeign) || !there(filepath.Join(f.Path, "mine")) || !there(kept) {
		t.Errorf("removed: %v", err)
	}
	if err := os.RemoveAll(f.Path); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
	if err := errors.Join(os.Symlink(kept, f.Path), os.WriteFile(filepath.Join(kept, "mine"), nil, 0o600)); err != nil {
		t.Skip("the system has no links: ", err)
	}
	if err := f.Remove(); !errors.Is(err, userdirs.ErrForeign) || !there(filepath.Join(kept, "mine")) {
		t.Errorf("by a link to what was renamed: %v", err)
	}
}

// TestMark: a folder is marked once, and is removed by its mark whatever way leads to it.
func TestMark(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "below"), 0o700), os.Chmod(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := userdirs.Remove(dir); userdirs.Marked(dir) || !errors.Is(err, userdirs.ErrForeign) {
		t.Errorf("without a mark: %v", err)
	}
	if err := userdirs.Mark(dir); err != nil || !userdirs.Marked(dir) {
		t.Errorf("marked: %v", err)
	}
	if err := userdirs.Mark(dir); !errors.Is(err, os.ErrExist) {
		t.Errorf("marked again: %v", err)
	}
	link := filepath.Join(t.TempDir(), "way")
	if err := os.Symlink(filepath.Dir(dir), link); err != nil {
		t.Skip("the system has no links: ", err)
	}
	if err := userdirs.Remove(filepath.Join(link, "folder")); err != nil || there(dir) {
		t.Errorf("removed: %v", err)
	}
}
