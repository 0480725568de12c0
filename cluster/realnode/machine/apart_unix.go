//go:build unix

package machine

import "syscall"

// apart gives a process a session of its own.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
