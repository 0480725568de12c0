//go:build unix

package machine

import (
	"os"
	"syscall"
)

// newSession returns attributes that start a process in a session of its own.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// isOwn reports whether a link belongs to this user. Another user could change theirs at any time.
func isOwn(link string) bool {
	info, err := os.Lstat(link)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}
