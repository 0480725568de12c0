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
// A signal that is only blocked is sent, too: a program may wait for it. One that a program blocks for a moment alone,
// as it does while it forks, is dropped as well once that is over, and is sent again when the process heeds it.
//
// A program that never catches the signal never gets it, which makes no difference to it.
func (c *isolated) Signal(s syscall.Signal) {
	if s == syscall.SIGKILL {
		_ = c.process.Signal(s) // it may just have ended
		return
	}
	var sent delivery
	if !sent.step(c, s) {
		go c.signalLater(s, sent)
	}
}

// signalLater ends with the process.
func (c *isolated) signalLater(s syscall.Signal, sent delivery) {
	for pause := firstLook; ; pause = min(2*pause, lookEvery) {
		select {
		case <-c.ended:
			return
		case <-time.After(pause):
		}
		if sent.step(c, s) {
			return
		}
	}
}

// delivery says whether a signal was sent while it was blocked.
type delivery bool

// step looks at the process, sends the signal where it is time to, and reports whether nothing is left to do.
func (d *delivery) step(c *isolated, s syscall.Signal) (done bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.child.pid))
	send, done := d.next(status, s)
	if send || err != nil && !bool(*d) { // one that cannot be looked at is taken to heed it
		_ = c.process.Signal(s) // it may just have ended
	}
	return done || err != nil
}

// next decides by a process's status.
func (d *delivery) next(status []byte, s syscall.Signal) (send, done bool) {
	caught, blocked := has(status, s, "SigCgt"), has(status, s, "SigBlk")
	waits := has(status, s, "ShdPnd")
	switch before := bool(*d); {
	case before && waits:
		return false, false
	case before && (caught || blocked): // it has been taken
		return false, true
	case caught:
		return true, true
	default:
		*d = delivery(blocked) // also when it was dropped
		return blocked, false
	}
}

// has reads a set of signals in a process's status. Of one that cannot be read it is taken to be so.
func has(status []byte, s syscall.Signal, set string) bool {
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) == set {
			mask, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 16, 64)
			return err != nil || mask&(1<<(s-1)) != 0
		}
	}
	return false
}
