package isolated

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Pauses between two looks at a process that does not heed a signal yet.
const (
	firstLook = time.Millisecond
	lookEvery = 50 * time.Millisecond
)

// Signal sends the process a signal, as soon as the process heeds it. A container's program is the first process of its
// namespace, and the kernel drops each signal but SIGKILL that such a process neither catches nor blocks. So a program
// that is asked to end in its first milliseconds, before it catches SIGTERM, would run until it is killed.
//
// A program that never catches the signal never gets it, which makes no difference to it.
func (c *isolated) Signal(s syscall.Signal) {
	if s == syscall.SIGKILL || c.heeds(s) {
		_ = c.process.Signal(s) // it may just have ended
		return
	}
	go c.signalLater(s)
}

// signalLater ends with the process.
func (c *isolated) signalLater(s syscall.Signal) {
	for pause := firstLook; ; pause = min(2*pause, lookEvery) {
		select {
		case <-c.ended:
			return
		case <-time.After(pause):
		}
		if c.heeds(s) {
			_ = c.process.Signal(s)
			return
		}
	}
}

// heeds reports whether the process would notice a signal. One that cannot be looked at is taken to do so.
func (c *isolated) heeds(s syscall.Signal) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.child.pid))
	return err != nil || heeds(status, s)
}

// heeds reads it in a process's status: a signal that is caught arrives, and one that is blocked waits for the process.
func heeds(status []byte, s syscall.Signal) bool {
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "SigCgt" && string(name) != "SigBlk" {
			continue
		}
		mask, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 16, 64)
		if err != nil || mask&(1<<(s-1)) != 0 {
			return true
		}
	}
	return false
}
