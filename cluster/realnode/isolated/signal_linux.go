package isolated

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Pauses between checks of a process that does not handle a signal yet.
const (
	firstLook = time.Millisecond
	lookEvery = 50 * time.Millisecond
)

// Signal sends the process a signal when the process handles it. The first process of a pid namespace loses each signal
// but SIGKILL that it neither catches nor blocks (pid_namespaces(7)). So a program that gets SIGTERM in its first
// milliseconds, before it catches the signal, would run until it is killed.
//
// A blocked signal is sent too, because a program may wait for it with sigwait. If the program only blocks it briefly,
// as during a fork, the kernel drops it afterwards. It is then sent again when the process handles it.
//
// A program that never catches the signal never gets it, which makes no difference.
func (c *isolated) Signal(s syscall.Signal) {
	if s == syscall.SIGKILL {
		_ = c.process.Signal(s) // it may have ended already
		return
	}
	var sent delivery
	if !sent.step(c, s) {
		go c.signalLater(s, sent)
	}
}

// signalLater checks again until the signal is delivered or the process ends.
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

// delivery is true if the signal was sent while it was blocked.
type delivery bool

// step checks the process once and may send the signal. It reports whether the delivery is done.
func (d *delivery) step(c *isolated, s syscall.Signal) (done bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.child.pid))
	send, done := d.next(status, s)
	if send || err != nil && !bool(*d) { // without a status, assume that it handles the signal
		_ = c.process.Signal(s) // it may have ended already
	}
	return done || err != nil
}

// next decides by the process's /proc/PID/status.
func (d *delivery) next(status []byte, s syscall.Signal) (send, done bool) {
	caught, blocked := has(status, s, "SigCgt"), has(status, s, "SigBlk")
	waits := has(status, s, "ShdPnd")
	switch before := bool(*d); {
	case before && waits:
		return false, false
	case before && (caught || blocked): // the process has taken the signal
		return false, true
	case caught:
		return true, true
	default:
		*d = delivery(blocked) // false again if the kernel dropped the signal
		return blocked, false
	}
}

// has reports whether a signal is in a set of the status. It returns true if the set cannot be parsed.
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
