//go:build unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// detach makes cmd a session of its own: it outlives its starter and the
// terminal, whose interrupts do not reach it.
func detach(cmd *exec.Cmd) {
	keepFiles()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// firstFile is the first one besides standard input, output and error.
const firstFile = 3

// keepFiles keeps to this process what files it was started with, such as a
// lock that a shell holds (exec 9>lock; flock 9): the child would have them
// open for as long as it runs. Those that Go opens are kept anyway.
func keepFiles() {
	files, _ := os.ReadDir("/dev/fd") // without it, nothing is known of them
	for _, f := range files {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd >= firstFile {
			syscall.CloseOnExec(fd)
		}
	}
}
