package clusterctl

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// An OperatorLine is a line of an operator's log.
type OperatorLine protocol.OperatorLine

const (
	maxLinesWaiting = 1000 // for the cluster to take them
	maxLinesSent    = 200  // at once
	maxLineText     = 8 << 10
)

// Lines brings an operator's log into the record of a cluster. Nothing waits for it: lines without room are counted.
type Lines struct {
	operator string
	conn     *protocol.Conn
	wake     chan struct{}
	done     chan struct{}

	mu      sync.Mutex
	waiting []protocol.OperatorLine
	missed  int
	closed  bool
}

// OpenLines connects to the cluster called name for the log of an operator. A cluster without a record takes no lines.
func (c *Control) OpenLines(ctx context.Context, name, operator string) (*Lines, error) {
	s, err := c.running(ctx, name)
	if err != nil {
		return nil, err
	}
	cl, err := c.cluster(s.Name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	conn, err := protocol.Dial(ctx, cl.SocketPath())
	if err != nil {
		return nil, unanswered(ctx, s, "cluster "+s.Name+" does not take the manager's log", err)
	}
	l := &Lines{operator: operator, conn: conn, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go l.send()
	return l, nil
}

// Put adds a line. A nil Lines takes none.
func (l *Lines) Put(line OperatorLine) {
	if l == nil {
		return
	}
	if len(line.Text) > maxLineText { // behind a whole word: the cluster cannot hide the beginning of a Secret's value
		line.Text = line.Text[:max(strings.LastIndexAny(line.Text[:maxLineText], " \t\"'\\,;"), 0)]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.waiting) == maxLinesWaiting {
		l.missed++
		return
	}
	l.waiting = append(l.waiting, protocol.OperatorLine(line))
	l.signal()
}

func (l *Lines) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// send sends lines until Close, or until the cluster takes no more.
func (l *Lines) send() {
	defer close(l.done)
	for range l.wake {
		for {
			batch, closed := l.take()
			if len(batch.Lines) == 0 {
				if closed {
					return
				}
				break
			}
			err := l.record(batch)
			if _, refused := errors.AsType[*protocol.Refusal](err); refused { // an older program does not know all of a line
				for i := range batch.Lines {
					batch.Lines[i].User, batch.Lines[i].Trace = "", ""
				}
				err = l.record(batch)
			}
			if err != nil {
				l.mu.Lock()
				l.closed, l.waiting = true, nil
				l.mu.Unlock()
				return
			}
		}
	}
}

func (l *Lines) record(batch protocol.RecordLines) error {
	return l.conn.Call("recordLines", batch, &struct{}{}, func(protocol.Event) {})
}

func (l *Lines) take() (batch protocol.RecordLines, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.waiting), maxLinesSent)
	batch = protocol.RecordLines{Operator: l.operator, Lines: l.waiting[:n:n], Missed: l.missed}
	l.waiting, l.missed = l.waiting[n:], 0
	return batch, l.closed
}

// Close sends what waits, and ends. Ctx bounds that.
func (l *Lines) Close(ctx context.Context) {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.signal()
	select {
	case <-l.done:
	case <-ctx.Done():
	}
	_ = l.conn.Close() // what was sent has arrived
}
