//go:build unix

package process_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
)

// stranger and club are a user and a group that have nothing to do with the one who tests.
const (
	stranger = 4321
	club     = 4322
)

// yard is a program that is trusted, deep in a folder.
func yard(t *testing.T) (dir, program string) {
	t.Helper()
	dir = t.TempDir()
	program = filepath.Join(dir, "deep", "bin", "program")
	must(t, os.MkdirAll(filepath.Dir(program), 0o755))
	must(t, os.WriteFile(program, []byte("#!/bin/sh\necho started\n"), 0o755))
	return dir, program
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func onlyRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
}

// refused wants a program not to be started, because of a file or folder on the way to it.
func refused(t *testing.T, program, at string, why error) {
	t.Helper()
	err := process.Trust(program)
	untrusted, ok := errors.AsType[*process.UntrustedError](err)
	if !ok || untrusted.At != at || !errors.Is(err, why) {
		t.Errorf("%s: %v; want %v of %s", program, err, why, at)
	}
	_, err = process.Command(program)
	if r, ok := errors.AsType[*report.Error](err); !ok || r.Where != at || !errors.Is(err, why) {
		t.Errorf("it would be started: %v", err)
	}
}

// TestOwn: the user's own program is started, under a folder that all may write to and that has the sticky bit.
func TestOwn(t *testing.T) {
	dir, program := yard(t)
	must(t, os.Chmod(dir, 0o777|os.ModeSticky))
	cmd, err := process.Command(program)
	must(t, err)
	if out, err := cmd.Output(); string(out) != "started\n" || err != nil {
		t.Errorf("it printed %q, %v", out, err)
	}
}

// TestWritable: a program that another user can change or replace is not started.
func TestWritable(t *testing.T) {
	dir, program := yard(t)
	for _, at := range []string{program, filepath.Dir(program), dir} {
		info, err := os.Stat(at)
		must(t, err, os.Chmod(at, 0o777))
		refused(t, program, at, process.ErrWritable)
		must(t, os.Chmod(at, info.Mode().Perm()))
	}
	if err := process.Trust(program); err != nil {
		t.Errorf("it is trusted again: %v", err)
	}
}

// TestGroup: so is one that a group can change which has other members.
func TestGroup(t *testing.T) {
	onlyRoot(t)
	dir, program := yard(t)
	at := filepath.Join(dir, "deep")
	must(t, os.Chmod(at, 0o775))
	if err := process.Trust(program); err != nil {
		t.Errorf("root's own group: %v", err)
	}
	must(t, os.Chown(at, -1, club))
	refused(t, program, at, process.ErrWritable)
}

// TestStranger: nor is one of another user, or in such a user's folder.
func TestStranger(t *testing.T) {
	onlyRoot(t)
	dir, program := yard(t)
	for _, at := range []string{program, filepath.Join(dir, "deep")} {
		must(t, os.Chown(at, stranger, -1))
		refused(t, program, at, process.ErrStranger)
		must(t, os.Chown(at, 0, -1))
	}
}

// TestLinks: each link on the way counts, and where it leads: a stranger's link to a trusted program may lead elsewhere
// a moment later.
func TestLinks(t *testing.T) {
	dir, program := yard(t)
	open := filepath.Join(dir, "open")
	must(t, os.Mkdir(open, 0o777), os.Chmod(open, 0o777|os.ModeSticky),
		os.Symlink("../open/mine", filepath.Join(dir, "deep", "link")), os.Symlink("../deep/bin", filepath.Join(open, "mine")))
	through := filepath.Join(dir, "deep", "link", "program")
	if err := process.Trust(through); err != nil {
		t.Errorf("the user's own links: %v", err)
	}
	must(t, os.Chmod(open, 0o777))
	refused(t, through, open, process.ErrWritable)
	if err := process.Trust(program); err != nil {
		t.Errorf("without the links: %v", err)
	}
	round := filepath.Join(dir, "round")
	must(t, os.Symlink("round", round))
	if err := process.Trust(round); err == nil {
		t.Error("a link to itself is trusted")
	}
	onlyRoot(t)
	must(t, os.Chmod(open, 0o777|os.ModeSticky), os.Lchown(filepath.Join(open, "mine"), stranger, -1))
	refused(t, through, filepath.Join(open, "mine"), process.ErrStranger)
}

// TestTrustAll: of a folder of sources each file counts.
func TestTrustAll(t *testing.T) {
	dir, program := yard(t)
	must(t, os.Symlink("gone", filepath.Join(dir, "deep", "dangling")))
	if err := process.TrustAll(dir); err != nil {
		t.Errorf("the user's own: %v", err)
	}
	must(t, os.Chmod(program, 0o777))
	err := process.TrustAll(dir)
	untrusted, ok := errors.AsType[*process.UntrustedError](err)
	if !ok || untrusted.At != program {
		t.Fatalf("got %v", err)
	}
	if next := untrusted.Report("").Next; next != "chmod -R go-w "+dir {
		t.Errorf("it advises %q", next)
	}
}

// TestVouched: the user trusts all below a folder, and nothing beside it.
func TestVouched(t *testing.T) {
	dir, program := yard(t)
	must(t, os.Chmod(dir, 0o777))
	t.Setenv(process.TrustVariable, "relative"+string(filepath.ListSeparator)+filepath.Join(dir, "deep"))
	if err := errors.Join(process.Trust(program), process.TrustAll(filepath.Dir(program))); err != nil {
		t.Errorf("the user trusts it: %v", err)
	}
	if err := process.Trust(dir); !errors.Is(err, process.ErrWritable) {
		t.Errorf("above that folder: %v", err)
	}
	through := filepath.Join(t.TempDir(), "program")
	must(t, os.Symlink(program, through))
	if err := process.Trust(through); err != nil {
		t.Errorf("by a link to there, as from /usr/bin: %v", err)
	}
	must(t, os.Remove(through), os.Symlink(dir+"/deep/../program", through), os.WriteFile(filepath.Join(dir, "program"), nil, 0o755))
	if err := process.Trust(through); err == nil {
		t.Error("a link to beside that folder is trusted")
	}
}

// TestRunning: programs of the owner of what runs already are trusted, such as those of the user who calls sudo
// slipway.
func TestRunning(t *testing.T) {
	onlyRoot(t)
	_, program := yard(t)
	running, err := os.Executable()
	must(t, err, os.Chown(program, stranger, -1), os.Chown(running, stranger, -1))
	defer func() { must(t, os.Chown(running, 0, -1)) }()
	if err := process.Trust(program); err != nil {
		t.Errorf("got %v", err)
	}
}

// TestRunningIsGone: who puts a file in the place of the program that runs is not trusted for that. It is this
// test in another process, which removes its own file.
func TestRunningIsGone(t *testing.T) {
	onlyRoot(t)
	if runtime.GOOS != "linux" {
		t.Skip("a program that runs is known by its name alone")
	}
	const asked = "PROCESS_TEST_GONE"
	running, err := os.Executable()
	must(t, err)
	if os.Getenv(asked) != "" {
		must(t, os.Remove(running), os.WriteFile(running, []byte("#!/bin/sh\n"), 0o755), os.Chown(running, stranger, -1))
		refused(t, running, running, process.ErrStranger)
		return
	}
	text, err := os.ReadFile(running)
	must(t, err)
	program := filepath.Join(t.TempDir(), "program")
	must(t, os.WriteFile(program, text, 0o755))
	cmd := exec.Command(program, "-test.run=^TestRunningIsGone$")
	cmd.Env = append(os.Environ(), asked+"=yes")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestMissing: a program that PATH does not have.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := process.Command("no-such-program"); !process.IsMissing(err) {
		t.Errorf("got %v", err)
	}
}

// TestBecome: what takes this process's place is looked at as well.
func TestBecome(t *testing.T) {
	_, program := yard(t)
	must(t, os.Chmod(program, 0o777))
	if err := process.Become([]string{program}, nil); !errors.Is(err, process.ErrWritable) {
		t.Errorf("got %v", err)
	}
}
