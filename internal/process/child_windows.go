package process

import (
	"os"
	"os/exec"
)

// separate leaves cmd in our console group: a Ctrl-C reaches it from there.
func separate(*exec.Cmd) {}

// interrupt does nothing: the console has told the child already.
func interrupt(*exec.Cmd) {}

// terminate ends cmd: Windows has no way to ask a process that shares no console.
func terminate(cmd *exec.Cmd) { kill(cmd) }

// kill ends cmd.
func kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill() // it may have ended, which is what is wanted
	}
}

// ExitCode is the code of a child.
func ExitCode(state *os.ProcessState) int { return state.ExitCode() }

// sweep does nothing: Windows knows no groups that a child leads.
func sweep(*exec.Cmd) {}
