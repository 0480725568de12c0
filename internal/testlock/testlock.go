// Package testlock hands out to tests what the whole machine has once, such as TCP ports, so that packages, modules and
// even checkouts that are tested at the same time do not meet.
//
// [Hold] waits until a name is free and has it until the test ends; [Port] is a port that no other test is given. The
// contract between processes, and between modules, which share no Go code, is a lock (flock) on a file in the folder
// slipway-test-gate of the system's folder for temporary files: "port-9443" for a TCP port, other names for other
// things. The system takes a lock back when its process dies.
package testlock

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gofrs/flock"
)

// first and last bound the ports that are handed out, where neither Linux nor macOS picks one by itself.
const first, last = 20000, 29999

// Hold waits for what a name stands for, and has it until it is released or the test ends.
func Hold(t testing.TB, name string) (release func()) {
	t.Helper()
	lock, err := open(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	release = func() { _ = lock.Close() }
	t.Cleanup(release)
	return release
}

// Port is a TCP port without a listener on any address. It is reserved for this test until the test ends.
func Port(t testing.TB) int {
	t.Helper()
	port, release, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return port
}

// FreePort is Port for tests that are not of type [testing.TB].
func FreePort() (port int, release func(), err error) {
	for range last - first {
		port = first + rand.IntN(last-first+1)
		lock, err := open(PortName(port))
		if err != nil {
			return 0, nil, err
		}
		if held, err := lock.TryLock(); err != nil || !held {
			continue // it is another test's
		}
		if free(port) {
			return port, func() { _ = lock.Close() }, nil
		}
		_ = lock.Close()
	}
	return 0, nil, fmt.Errorf("no port between %d and %d is free", first, last)
}

// PortName is what a port is called.
func PortName(port int) string { return "port-" + strconv.Itoa(port) }

func free(port int) bool {
	for _, host := range []string{"", "127.0.0.1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

// errNoGate is that another user put something else in the place of the gate, or of one of its locks.
var errNoGate = errors.New("something else is in the place of the gate of slipway's tests")

// open is the lock of a name, which is for all users of the machine whatever their umask is. Any of them may have made
// the folder, so nothing in it is written, and no link is followed.
func open(name string) (*flock.Flock, error) {
	dir := filepath.Join(os.TempDir(), "slipway-test-gate")
	if err := os.Mkdir(dir, 0o777); err == nil {
		_ = os.Chmod(dir, 0o777|os.ModeSticky) // this user's, and whatever has its place now is no other user's
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if !isAt(root, dir) {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errNoGate}
	}
	if f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
		_ = errors.Join(f.Chmod(0o644), f.Close())
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir, name), Err: errNoGate}
	}
	return flock.New(filepath.Join(dir, name), flock.SetFlag(os.O_RDONLY)), nil // which makes no file
}

// isAt reports whether a folder is the one that was opened, and no link to it.
func isAt(root *os.Root, dir string) bool {
	opened, err := root.Stat(".")
	if err != nil {
		return false
	}
	info, err := os.Lstat(dir)
	return err == nil && os.SameFile(opened, info)
}
