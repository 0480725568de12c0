package isolated

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestSignalAtOnce: a program that is asked to end before it has begun to catch signals ends nevertheless.
func TestSignalAtOnce(t *testing.T) {
	b := newBed(t)
	p := b.prepare(b.describe())
	for i := range 20 {
		c := b.start(p)
		c.Signal(syscall.SIGTERM)
		ended := make(chan int)
		go func() { ended <- c.Wait() }()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Errorf("the container %d goes on", i)
			c.Signal(syscall.SIGKILL)
			<-ended
		}
		closeFiles(c.Streams().Stdout, c.Streams().Stderr)
		_ = c.Streams().Stdin.Close()
		if t.Failed() {
			break
		}
	}
}

// TestHeeds holds what a process's status says against what the kernel does with a signal for it.
func TestHeeds(t *testing.T) {
	const status = "Name:\tSigCgt:\nSigPnd:\t0000000000000000\nSigBlk:\t%s\nSigIgn:\t%s\nSigCgt:\t%s\nCapInh:\t0\n"
	const none, term, hangUp = "0000000000000000", "0000000000004000", "0000000000000001"
	for _, c := range []struct {
		name, blocked, ignored, caught string
		want                           bool
	}{
		{"nothing is caught", none, none, none, false},
		{"it is caught", none, none, term, true},
		{"it is blocked, and waits", term, none, none, true},
		{"it is ignored", none, term, none, false},
		{"another one is caught", none, none, hangUp, false},
		{"the kernel writes something else", none, none, "?", true},
	} {
		if got := heeds(fmt.Appendf(nil, status, c.blocked, c.ignored, c.caught), syscall.SIGTERM); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
