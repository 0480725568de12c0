//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// separate gives cmd a session, and so a process group, of its own.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
