//go:build unix

package owner

import (
	"io/fs"
	"os"
	"syscall"
)

// IsUser reports whether a file belongs to the user whom this process runs as.
func IsUser(info fs.FileInfo) bool {
	id, ok := of(info)
	return ok && id == os.Getuid()
}

// Private reports whether a file or folder is the user's alone: no other user may read or change it.
func Private(info fs.FileInfo) bool { return IsUser(info) && info.Mode().Perm()&0o077 == 0 }

// Distrusted says why a program is not to be run: another user wrote it, or can change it. Programs of the user, of the
// system and of the owner of the running program are trusted. Links are followed.
func Distrusted(path, running string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	id, ok := of(info)
	if !ok || id != os.Getuid() && id != root && !owns(id, running) {
		return &fs.PathError{Op: "trust", Path: path, Err: ErrStranger}
	}
	if info.Mode().Perm()&0o002 != 0 {
		return &fs.PathError{Op: "trust", Path: path, Err: ErrWritable}
	}
	return nil
}

// root is the system's own user.
const root = 0

func owns(id int, path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	own, ok := of(info)
	return ok && own == id
}

func of(info fs.FileInfo) (id int, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(s.Uid), true
}
