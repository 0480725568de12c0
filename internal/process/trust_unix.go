//go:build unix

package process

import (
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// maxLinks is how many links are followed for one path, as the systems do.
const maxLinks = 40

// A way goes from the root to a file, part by part.
type way struct {
	users
	path  string // that was asked for
	done  string // without links
	rest  []string
	links int
}

// walk looks at the root, and at each folder, link and file from there to an absolute path.
func walk(path string) error { return trusted().walk(path) }

// users are those who are trusted.
type users []int

// root is the system's own user and group.
const root = 0

// trusted are the user, root, the owner of the running program, and that of the root of the file system, who may
// replace all other files: in a namespace of users that is not root.
func trusted() users {
	all := users{root, os.Getuid()}
	for _, path := range []string{string(filepath.Separator), running()} {
		if info, err := os.Stat(path); err == nil {
			all = append(all, ids(info).user)
		}
	}
	return all
}

// running leads to the program that runs. Its name may be another file's by now, while Linux has a link to itself.
func running() string {
	const itself = "/proc/self/exe"
	if _, err := os.Stat(itself); err == nil {
		return itself
	}
	named, _ := os.Executable() // or else nothing is there
	return named
}

func (u users) walk(path string) error {
	w := way{users: u, path: path, done: string(filepath.Separator), rest: parts(path)}
	if err := w.look(); err != nil {
		return err
	}
	for len(w.rest) > 0 {
		if w.isVouched() {
			return nil
		}
		if err := w.step(); err != nil {
			return err
		}
	}
	return nil
}

// isVouched reports whether the user trusts all of what lies ahead: a trusted link may lead there.
func (w *way) isVouched() bool {
	return !slices.Contains(w.rest, "..") && vouched(filepath.Join(w.done, filepath.Join(w.rest...)))
}

func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}

// step takes the next part.
func (w *way) step() error {
	next := w.rest[0]
	w.rest = w.rest[1:]
	switch next {
	case ".":
		return nil
	case "..":
		w.done = filepath.Dir(w.done)
		return nil
	}
	parent := w.done
	w.done = filepath.Join(parent, next)
	if err := w.look(); err != nil {
		return err
	}
	target, err := os.Readlink(w.done)
	if err != nil {
		return nil // no link
	}
	if w.links++; w.links > maxLinks {
		return &fs.PathError{Op: "follow", Path: w.path, Err: syscall.ELOOP}
	}
	rest := w.rest
	if w.done = parent; filepath.IsAbs(target) {
		w.done = string(filepath.Separator)
	}
	w.rest = append(parts(target), rest...)
	return nil
}

// look judges what lies at done.
func (w *way) look() error {
	info, err := os.Lstat(w.done)
	if err != nil {
		return err
	}
	return w.judge(w.path, w.done, info)
}

// judge refuses a file on the way to path.
func (u users) judge(path, at string, info fs.FileInfo) error {
	switch of := ids(info); {
	case !slices.Contains(u, of.user):
		return &UntrustedError{Path: path, At: at, Err: ErrStranger}
	case writable(info.Mode(), of):
		return &UntrustedError{Path: path, At: at, Err: ErrWritable}
	}
	return nil
}

// owners are the user and the group that a file belongs to.
type owners struct{ user, group int }

// ids are those of a file; none has the number -1.
func ids(info fs.FileInfo) owners {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return owners{int(s.Uid), int(s.Gid)}
	}
	return owners{-1, -1}
}

// writable reports whether other users may replace what is there. A link has no rights of its own.
func writable(mode fs.FileMode, of owners) bool {
	switch {
	case mode&fs.ModeSymlink != 0, mode.IsDir() && mode&fs.ModeSticky != 0:
		return false
	case mode.Perm()&0o002 != 0:
		return true
	}
	return mode.Perm()&0o020 != 0 && !private(of)
}

// administrators are groups whose members may become root, or may change programs of the system: staff owns Debian's
// /usr/local, and Homebrew's folders belong to admin. On macOS everyone is of staff.
var administrators = map[string][]string{"linux": {"staff", "sudo", "wheel"}, "darwin": {"admin", "wheel"}}

// private reports whether the group of a file has no members besides its owner and those who may become root: it is
// root's or the administrators', or has the owner's number and name, as pam_umask(8) has it.
func private(of owners) bool {
	if of.group == root {
		return true
	}
	group, err := user.LookupGroupId(strconv.Itoa(of.group))
	if err != nil {
		return false
	}
	if slices.Contains(administrators[runtime.GOOS], group.Name) {
		return true
	}
	owner, err := user.LookupId(strconv.Itoa(of.user))
	return err == nil && of.group == of.user && group.Name == owner.Username
}
