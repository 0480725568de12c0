//go:build unix

package clusterctl

import (
	"os"
	"os/exec"
	"syscall"
)

// detach makes cmd a session of its own: it outlives its starter and the
// terminal, whose interrupts do not reach it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// terminate asks a process to end.
func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
