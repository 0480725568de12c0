package dev

import (
	"os"
	"os/signal"
	"syscall"
)

// Withstand lets no signal end this process until release is called: not a second Ctrl-C, not the terminal that closes,
// for which shells send SIGHUP more than once, and not a write to who does not read any more. They mean the manager;
// what it was served with has to be taken back after it. A signal that is ignored from the start, as by nohup, stays
// so.
func Withstand() (release func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	sink := make(chan os.Signal, 1) // full is as good as empty: nobody reads it
	signal.Notify(sink, signals...)
	return func() { signal.Stop(sink) }
}
