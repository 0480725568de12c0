package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// claims has the test's program be a test that claims a folder, and waits for the end of its input.
const claims = "SESSION_TEST_CLAIMS"

func claim() {
	dir, _, err := Claim()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(dir)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// begin starts such a test and returns its folder.
func begin(t *testing.T) (dir string, test *exec.Cmd) {
	t.Helper()
	test = exec.Command(os.Args[0])
	test.Env, test.Stderr = append(os.Environ(), claims+"=yes"), os.Stderr
	in, err := test.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := test.StdoutPipe()
	if err == nil {
		err = test.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = test.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Scan()
	return lines.Text(), test
}

// killed is the folder of a test that was killed.
func killed(t *testing.T) (dir string) {
	t.Helper()
	dir, test := begin(t)
	if err := errors.Join(test.Process.Kill(), os.Mkdir(filepath.Join(dir, "data"), 0o700)); err != nil {
		t.Fatal(err)
	}
	_ = test.Wait()
	return dir
}

// age makes a folder look as if it were made long ago.
func age(t *testing.T, dir string) {
	t.Helper()
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir, long, long); err != nil {
		t.Fatal(err)
	}
}

// alone gives the test a folder for temporary files of its own.
func alone(t *testing.T) (temp string) {
	t.Helper()
	temp = t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	return temp
}

// sweepNow has a session begin, which sweeps.
func sweepNow(t *testing.T) {
	t.Helper()
	_, release, err := Claim()
	if err == nil {
		err = release()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSweep: of a process that was killed nothing stays. What is in use stays, by the process that made it or by the
// program, and what may be about to begin.
func TestSweep(t *testing.T) {
	alone(t)
	running, _ := begin(t)
	fresh, served, over, early := killed(t), killed(t), killed(t), killed(t)
	if err := os.WriteFile(filepath.Join(over, programName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	program := flock.New(filepath.Join(served, programName))
	if ok, err := program.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	t.Cleanup(func() { _ = program.Unlock() })
	for _, dir := range []string{running, served, over, early} {
		age(t, dir)
	}
	sweepNow(t)
	for dir, want := range map[string]bool{running: true, fresh: true, served: true, over: false, early: false} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s stays: %v, want %t", filepath.Base(dir), err, want)
		}
	}
}

// TestUsersFolders: what a user or another one has under such a name stays, and so does what the user made of a folder
// of a session's: a copy, one that was renamed or led to by a link, and a copy in its place.
func TestUsersFolders(t *testing.T) {
	tmp := alone(t)
	at := func(name string) string { return filepath.Join(tmp, prefix+name) }
	stays := []string{at("drive"), at("gate"), at("copy"), at("renamed"), at("link"), at("locked"), filepath.Join(tmp, "original")}
	gone, moved, replaced, stranger := killed(t), killed(t), killed(t), killed(t)
	err := errors.Join(os.Mkdir(at("drive"), 0o755), os.WriteFile(filepath.Join(at("drive"), "go.mod"), nil, 0o644), os.Mkdir(at("gate"), 0o700),
		os.Mkdir(at("locked"), 0o700), os.WriteFile(filepath.Join(at("locked"), programName), nil, 0o600), os.WriteFile(filepath.Join(at("locked"), holderName), nil, 0o600),
		copyExactly(at("copy"), gone), os.Rename(moved, at("renamed")), os.Symlink(at("renamed"), at("link")),
		os.Rename(replaced, filepath.Join(tmp, "original")), copyExactly(replaced, filepath.Join(tmp, "original")))
	if err != nil {
		t.Fatal(err)
	}
	stays = append(stays, replaced)
	if os.Getuid() == 0 {
		if err := os.Chown(stranger, 1, 1); err != nil {
			t.Fatal(err)
		}
		stays = append(stays, stranger)
	}
	for _, dir := range append(stays, gone) {
		age(t, dir)
	}
	sweepNow(t)
	for _, dir := range stays {
		if _, err := os.Lstat(dir); err != nil {
			t.Errorf("%s is gone", filepath.Base(dir))
		}
	}
	if _, err := os.Lstat(gone); err == nil {
		t.Error("nothing is swept")
	}
}

// copyExactly copies a folder of a session's with all modes.
func copyExactly(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(filepath.Join(from, path[len(to):]))
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm())
	})
}

// TestSweepsAtOnce: sessions that begin and end at the same time remove what is left, and nothing of each other's.
func TestSweepsAtOnce(t *testing.T) {
	tmp := alone(t)
	for _, dir := range []string{killed(t), killed(t), killed(t)} {
		age(t, dir)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				dir, release, err := Claim()
				if err == nil {
					err = errors.Join(os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600), release())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if entries, err := os.ReadDir(tmp); err != nil || len(entries) > 0 {
		t.Errorf("there are still %v, %v", entries, err)
	}
}

// TestRemoveForeign: a session removes no other folder that has come in the place of its own.
func TestRemoveForeign(t *testing.T) {
	alone(t)
	dir, release, err := Claim()
	if err != nil {
		t.Fatal(err)
	}
	mine, kept := filepath.Join(dir, "mine"), filepath.Join(t.TempDir(), "kept")
	if err := errors.Join(os.Rename(dir, kept), os.Mkdir(dir, 0o700), os.WriteFile(mine, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := release(); !errors.Is(err, errForeign) {
		t.Errorf("released: %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	if err := errors.Join(os.RemoveAll(dir), os.Symlink(kept, dir)); err != nil {
		t.Fatal(err)
	}
	if err := release(); !errors.Is(err, errForeign) {
		t.Errorf("released by a link to what was renamed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(kept, markName)); err != nil {
		t.Error(err)
	}
}

func TestNoTemporaryFolder(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	t.Setenv("TMPDIR", nowhere)
	_, _, err := Claim()
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Where != nowhere || !errors.Is(err, fs.ErrNotExist) || e.Hint == "" {
		t.Errorf("%+v", err)
	}
}
