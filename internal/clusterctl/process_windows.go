package clusterctl

import (
	"os"
	"os/exec"
	"syscall"
)

const (
	detachedProcess       = 0x00000008
	createNewProcessGroup = 0x00000200
)

// detach takes cmd away from the console, whose end and interrupts do not reach it.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | createNewProcessGroup, HideWindow: true}
}

// terminate ends a process: there is no way to ask one without a console.
func terminate(p *os.Process) error { return p.Kill() }
