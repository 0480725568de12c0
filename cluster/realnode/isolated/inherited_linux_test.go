package isolated

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
)

// TestInherited: programs in a container have none of the files that others have opened, and may open many.
func TestInherited(t *testing.T) {
	foreign := filepath.Join(t.TempDir(), "foreign")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(foreign)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	const shells = 200 // a number as a shell may have, which is handed on to what it starts
	if err := unix.Dup2(int(folder.Fd()), shells); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(shells)
	b := newBed(t)
	c := b.start(b.prepare(b.describe())).(*isolated)
	defer end(c)
	in, hold := io.Pipe()
	entered := make(chan error, 1)
	go func() { entered <- c.Enter(t.Context(), cri.Entering{Args: []string{"/program", "sweep"}, Stdin: in}) }()
	for running(t, c) < 2 { // the program, which gives itself a name when it begins
		select {
		case err := <-entered:
			t.Fatalf("entered: %v", err)
		default:
		}
	}
	for _, pid := range processesOf(t, c) {
		checkFiles(t, pid, foreign)
		checkLimit(t, pid)
	}
	_ = hold.Close()
	if err := <-entered; err != nil {
		t.Errorf("entered: %v", err)
	}
}

// running is how many processes of a container are at their program.
func running(t *testing.T, c *isolated) (n int) {
	t.Helper()
	for _, pid := range processesOf(t, c) {
		if text, err := os.ReadFile(filepath.Join("/proc", pid, "comm")); err == nil && string(text) == "slipway-sweep\n" {
			n++
		}
	}
	return n
}

// processesOf are those in a container's pid namespace.
func processesOf(t *testing.T, c *isolated) (all []string) {
	t.Helper()
	namespace, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(c.child.pid), "ns/pid"))
	if err != nil {
		t.Fatal(err)
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		if of, err := os.Readlink(filepath.Join(p, "ns/pid")); err == nil && of == namespace {
			all = append(all, filepath.Base(p))
		}
	}
	return all
}

// checkFiles looks for files besides those that a program of Go opens by itself, to wait for events and to see how many
// processors it may use.
func checkFiles(t *testing.T, pid, foreign string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("/proc", pid, "fd/*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("process %s has %d files: %v", pid, len(files), err)
	}
	for _, f := range files {
		number, err := strconv.Atoi(filepath.Base(f))
		if err != nil {
			t.Fatal(err)
		}
		to, _ := os.Readlink(f)
		if number > 2 && !strings.HasPrefix(to, "anon_inode:[event") && !strings.HasPrefix(to, "/sys/fs/cgroup/") || to == foreign {
			t.Errorf("process %s has file %d, %s", pid, number, to)
		}
	}
}

func checkLimit(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	var own, its unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(n, unix.RLIMIT_NOFILE, nil, &its); err != nil {
		t.Fatal(err)
	}
	if want := min(own.Max, 1_000_000); its.Max != want {
		t.Errorf("process %s may have %d files open, want %d", pid, its.Max, want)
	}
}
