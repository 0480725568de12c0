//go:build unix

package dev

import (
	"os"
	"os/exec"
	"syscall"
)

// interrupt asks the process group of cmd to stop.
func interrupt(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGINT) }

// kill ends the process group of cmd.
func kill(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGKILL) }

// signalGroup signals the group that cmd leads. That nobody is left in it is
// what is wanted.
func signalGroup(cmd *exec.Cmd, s syscall.Signal) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, s)
	}
}

// exitCode is the code of a child, in the manner of shells where a signal ended it.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
