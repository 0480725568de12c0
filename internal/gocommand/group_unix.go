//go:build unix

package gocommand

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the command and all that it starts into a process group, which
// can be ended as one and which the terminal does not interrupt by itself.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interruptGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

// killGroup ends what the command may have left behind. The group's id stays
// taken for as long as one of its members lives, and its leader is gone.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
