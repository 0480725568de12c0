//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// apart gives a program a process group of its own, as a shell does.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt does what Ctrl-C does in a terminal: all processes of the group get the signal.
func interrupt(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
