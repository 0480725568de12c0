package scratch_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/scratch"
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
	f, err := scratch.New(prefix)
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

// age makes a folder look as old as one that was made before.
func age(t *testing.T, folder string, by time.Duration) {
	t.Helper()
	before := time.Now().Add(-by)
	if err := os.Chtimes(folder, before, before); err != nil {
		t.Fatal(err)
	}
}

func there(folder string) bool {
	_, err := os.Stat(folder)
	return err == nil
}

// TestKilled: the folder of a command that was killed goes with the next one, and that of one which runs stays.
func TestKilled(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	running, _ := begin(t)
	killed, cmd := begin(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	age(t, running, time.Hour)
	if _, err := scratch.New(prefix); err != nil || !there(killed) {
		t.Errorf("a folder that may have been made just now is gone: %v", err)
	}
	age(t, killed, time.Hour)
	f, err := scratch.New(prefix)
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

// TestNoLock: a folder of a version that knew no locks goes after days, and what is no folder stays.
func TestNoLock(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	old, recent, link, outside := filepath.Join(temp, prefix+"old"), filepath.Join(temp, prefix+"new"), filepath.Join(temp, prefix+"link"), filepath.Join(temp, "outside")
	if err := errors.Join(os.MkdirAll(filepath.Join(old, "below"), 0o700), os.Mkdir(recent, 0o700), os.Mkdir(outside, 0o700), os.Symlink(outside, link)); err != nil {
		t.Fatal(err)
	}
	age(t, old, 8*24*time.Hour)
	age(t, recent, time.Hour)
	age(t, outside, 8*24*time.Hour)
	if _, err := scratch.New(prefix); err != nil {
		t.Fatal(err)
	}
	if there(old) || !there(recent) || !there(link) || !there(outside) {
		t.Errorf("old: %t, recent: %t, link: %t, outside: %t", there(old), there(recent), there(link), there(outside))
	}
}
