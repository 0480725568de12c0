//go:build unix

package processgroup

import (
	"os/exec"
	"syscall"
)

// own puts the command and all that it starts into a process group, which
// can be ended as one and which the terminal does not interrupt by itself.
func own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt asks the group to end.
func interrupt(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

// kill ends what the command may have left behind. The group's id stays
// taken for as long as one of its members lives, and its leader is gone.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
