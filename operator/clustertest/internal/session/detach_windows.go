package session

import (
	"os/exec"
	"syscall"
)

const createNewProcessGroup = 0x00000200

// detach makes cmd a process group of its own: an interrupt at the console is for
// the tests, which may still need the cluster to clean up.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: createNewProcessGroup, HideWindow: true}
}
