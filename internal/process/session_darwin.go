package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// zombie is the state SZOMB of sys/proc.h.
const zombie = 5

// members lists the living processes of a session.
func members(session int) []int {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil
	}
	var pids []int
	for _, process := range all {
		pid := int(process.Proc.P_pid)
		if sid, err := unix.Getsid(pid); err == nil && sid == session && process.Proc.P_stat != zombie {
			pids = append(pids, pid)
		}
	}
	return pids
}
