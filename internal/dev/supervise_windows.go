package dev

import (
	"os"
	"os/exec"
	"syscall"
)

// separate leaves cmd in our console group: a Ctrl-C reaches it from there.
func separate(*exec.Cmd) {}

// detach gives cmd a process group of its own, which a Ctrl-C does not reach.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt does nothing: the console has told the child already.
func interrupt(*exec.Cmd) {}

// kill ends cmd.
func kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill() // it may have ended, which is what is wanted
	}
}

// exitCode is the code of a child.
func exitCode(state *os.ProcessState) int { return state.ExitCode() }

// sweep does nothing: Windows knows no groups that a child leads.
func sweep(*exec.Cmd) {}
