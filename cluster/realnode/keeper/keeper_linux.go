package keeper

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// becomeSubreaper makes this process the parent of its orphaned descendants (PR_SET_CHILD_SUBREAPER).
func becomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt processes: %w", err)
	}
	return nil
}

// killWithParent kills the child when this process ends.
func killWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// killChildren kills all children, including those that it becomes the parent of meanwhile, until none are left.
func killChildren() {
	for {
		for _, pid := range children() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if _, err := syscall.Wait4(-1, nil, 0, nil); err == syscall.ECHILD {
			return
		}
	}
}

func children() []int {
	own := []byte(strconv.Itoa(os.Getpid()))
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil // the pattern is valid
	}
	var all []int
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may contain any character. After it come the state and the parent.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) < 2 || !bytes.Equal(fields[1], own) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			all = append(all, pid)
		}
	}
	return all
}
