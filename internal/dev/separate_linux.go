package dev

import (
	"os/exec"
	"syscall"
)

// separate gives cmd a process group of its own and ties its life to ours.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
