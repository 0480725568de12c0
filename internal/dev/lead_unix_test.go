//go:build unix

package dev

import (
	"os/exec"
	"syscall"
)

// lead gives cmd a process group of its own.
func lead(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
