package devscreen

import (
	"os"
	"os/signal"
	"syscall"
)

// watchSignals has signals ask for an end, until over is called. A second one asks for it at once, apart from SIGHUP:
// shells send it more than once when a terminal closes. One that is ignored from the start, as by nohup, stays so.
func (s *screen) watchSignals() (over func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	came, done := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(came, signals...)
	go func() {
		for {
			select {
			case sig := <-came:
				if sig == syscall.SIGHUP {
					s.askOnce()
				} else {
					s.ask()
				}
			case <-done:
				return
			}
		}
	}()
	stopped := s.stops.watch()
	return func() {
		signal.Stop(came)
		close(done)
		stopped()
	}
}
