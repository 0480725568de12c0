package isolated

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
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
		case <-time.After(testlimit.Hang):
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

// TestDelivery holds what is done about a process's status against what the kernel does with a signal for it.
func TestDelivery(t *testing.T) {
	const status = "Name:\tSigCgt:\nShdPnd:\t%s\nSigBlk:\t%s\nSigIgn:\t%s\nSigCgt:\t%s\nCapInh:\t0\n"
	const none, term, hangUp = "0000000000000000", "0000000000004000", "0000000000000001"
	type look struct {
		pending, blocked, ignored, caught string
		send, done                        bool
	}
	for name, looks := range map[string][]look{
		"it is caught":                     {{none, none, none, term, true, true}},
		"it is caught later":               {{none, none, none, none, false, false}, {none, none, term, none, false, false}, {none, none, none, hangUp, false, false}, {none, none, none, term, true, true}},
		"the kernel writes something else": {{none, none, none, "?", true, true}},
		"a program waits for it":           {{none, term, none, none, true, false}, {term, term, none, none, false, false}, {none, term, none, none, false, true}},
		"a handler gets it after a block":  {{none, term, none, none, true, false}, {none, none, none, term, false, true}},
		"it is blocked while one forks":    {{none, term, none, none, true, false}, {none, none, none, none, false, false}, {none, none, none, term, true, true}},
		"it is blocked twice":              {{none, term, none, none, true, false}, {none, none, none, none, false, false}, {none, term, none, none, true, false}, {none, term, none, none, false, true}},
	} {
		var d delivery
		for i, l := range looks {
			send, done := d.next(fmt.Appendf(nil, status, l.pending, l.blocked, l.ignored, l.caught), syscall.SIGTERM)
			if send != l.send || done != l.done {
				t.Errorf("%s, look %d: send %t, done %t", name, i, send, done)
			}
		}
	}
}
