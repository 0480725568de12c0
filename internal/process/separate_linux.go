package process

import (
	"os/exec"
	"syscall"
)

// separate gives cmd a session, and so a process group, of its own, and ties its
// life to ours.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
