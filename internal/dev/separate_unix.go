//go:build unix && !linux

package dev

import (
	"os/exec"
	"syscall"
)

// separate gives cmd a process group of its own.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
