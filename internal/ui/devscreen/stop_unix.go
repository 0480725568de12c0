//go:build unix

package devscreen

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// stops has the screen leave the terminal while Ctrl-Z has the process stopped, and come back after any stop. SIGTSTP
// of another process is left to the kernel: Go has no way back to what it does once a program has listened to it
// (https://go.dev/issue/46321).
type stops struct {
	program  *tea.Program
	expected atomic.Bool // the next SIGCONT ends a stop by Ctrl-Z, after which the program comes back by itself
}

func newStops(p *tea.Program) *stops { return &stops{program: p} }

// watch waits for SIGCONT until over is called.
func (s *stops) watch() (over func()) {
	came, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(came, syscall.SIGCONT)
	go func() {
		for {
			select {
			case <-came:
				if !s.expected.CompareAndSwap(true, false) {
					s.program.Send(continuedMsg{})
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(came)
		close(done)
	}
}

// The process continues itself when it has run for this time after it was asked to stop. The time that it is stopped
// for does not count: no part passes then.
const (
	stopParts = 20
	stopPart  = 100 * time.Millisecond
)

// suspend has the program leave the terminal and send SIGTSTP to the job. The kernel ignores that where no shell could
// continue the process, as in a container.
func (s *stops) suspend() tea.Msg {
	s.expected.Store(true)
	go func() {
		for range stopParts {
			time.Sleep(stopPart)
			if !s.expected.Load() {
				return
			}
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGCONT)
	}()
	return tea.SuspendMsg{}
}
