//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// interrupt asks the process group of cmd to stop.
func interrupt(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGINT) }

// terminate asks the process of cmd alone to stop.
func terminate(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) } // it may have ended

// kill ends the process group of cmd.
func kill(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGKILL) }

// sweep ends what a child that has ended left behind: its group, and every
// other process of its session. The latter is for test suites, whose control
// planes have groups of their own and outlive a suite that is interrupted or panics.
func sweep(cmd *exec.Cmd) {
	kill(cmd)
	for range sweeps {
		left := members(cmd.Process.Pid)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(sweepPause)
	}
}

// A sweep is repeated until nobody is left, for processes take a moment to end and may start
// others meanwhile; one that a hanging disk keeps is given up on after a second.
const (
	sweeps     = 200
	sweepPause = 5 * time.Millisecond
)

// signalGroup signals the group that cmd leads. That nobody is left in it is
// what is wanted.
func signalGroup(cmd *exec.Cmd, s syscall.Signal) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, s)
	}
}

// ExitCode is the code of a child, in the manner of shells where a signal ended it.
func ExitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
