//go:build unix

package session

import (
	"os/exec"
	"syscall"
)

// detach makes cmd a session of its own: an interrupt at the terminal is for the
// tests, which may still need the cluster to clean up.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
