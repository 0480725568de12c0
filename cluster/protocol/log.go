package protocol

import (
	"context"
	"sync"
)

// Log keeps all events of a program's life and hands them to any number of
// followers, each at its own pace. It is safe for use by several goroutines.
type Log struct {
	mu      sync.Mutex
	lines   [][]byte
	closed  bool
	changed chan struct{} // closed and replaced whenever something changes
}

// NewLog makes an empty log.
func NewLog() *Log { return &Log{changed: make(chan struct{})} }

// Publish adds an event. Nothing is added after [Log.Close].
func (l *Log) Publish(e Event) {
	encoded, err := Encode(e)
	if err != nil {
		panic(err) // events are plain structs of strings and numbers
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.lines = append(l.lines, encoded)
	l.notify()
}

// Close ends the log: followers return once they have seen everything.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		l.notify()
	}
}

func (l *Log) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Follow calls write with every line from the first on, and returns when the log is
// closed, write fails or ctx ends.
func (l *Log) Follow(ctx context.Context, write func(line []byte) error) error {
	for next := 0; ; {
		lines, closed, changed := l.from(next)
		for _, line := range lines {
			if err := write(line); err != nil {
				return err
			}
		}
		next += len(lines)
		if closed {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (l *Log) from(next int) (lines [][]byte, closed bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines[next:len(l.lines):len(l.lines)], l.closed, l.changed
}
