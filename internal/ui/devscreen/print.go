package devscreen

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// bubbletea prints lines above what it has drawn. Where that is, it knows from its last frame: lines that come before
// the first frame, or before the one that follows a new size of the terminal or a return from the background, would
// be printed over something else. So the model holds lines back then, and the printing goroutine settles the screen:
// it waits until a frame is sure to be drawn.

// rowsMsg asks to print rows that were made for a size of the terminal.
type rowsMsg struct {
	rows  []string
	size  size
	reply chan<- held
}

// settledMsg says that a frame was drawn since a hold.
type settledMsg struct {
	hold  int
	reply chan<- held
}

// held is the answer to both.
type held struct {
	printed bool
	hold    int // the hold in force, 0 for none
	size    size
	room    int // rows that can be printed at once: more would scroll the block off the terminal
}

// print prints the log until nothing comes any more, and then ends the program. It runs on a goroutine of its own.
func (s *screen) print() {
	defer close(s.printed)
	now, ok := s.settle(held{hold: 1})
	for ok {
		lines, status, over := s.feed.take()
		if over {
			break
		}
		if status != nil {
			s.program.Send(*status)
		}
		if now, ok = s.printLines(lines, now); !ok || lines != nil || status != nil {
			continue
		}
		select {
		case <-s.feed.wake:
		case <-s.ended:
			ok = false
		}
	}
	s.feed.end()
	s.program.Quit()
}

// printLines prints lines, as many rows at a time as there is room for.
func (s *screen) printLines(lines []string, now held) (held, bool) {
	for len(lines) > 0 {
		var rows []string
		for len(lines) > 0 && len(rows) < now.room {
			rows = append(rows, wrap(lines[0], now.size.columns())...)
			lines = lines[1:]
		}
		for len(rows) > 0 {
			n, ok := min(len(rows), now.room), false
			asked := rowsMsg{rows: rows[:n], size: now.size}
			now, ok = s.send(func(reply chan<- held) tea.Msg { asked.reply = reply; return asked })
			if ok && now.printed {
				rows = rows[n:]
				continue
			}
			if ok {
				now, ok = s.settle(now)
			}
			if !ok {
				return now, false
			}
			lines, rows = append(rows, lines...), nil // they may be too wide now
		}
	}
	return now, true
}

// send sends a message and waits for its answer, unless the program ends.
func (s *screen) send(message func(reply chan<- held) tea.Msg) (held, bool) {
	reply := make(chan held, 1)
	s.program.Send(message(reply))
	select {
	case answer := <-reply:
		return answer, true
	case <-s.ended:
		return held{}, false
	}
}

// frameMark is written to the terminal, in order with the frames. Terminals ignore it, and output does not pass it on.
const frameMark = "\x00"

// settle waits until a frame is drawn since the hold in force, and says so to the model. The program writes what it was
// asked to write before each frame, so that the second mark comes after one.
func (s *screen) settle(now held) (held, bool) {
	for now.hold != 0 {
		for range 2 {
			s.program.Send(tea.Raw(frameMark)())
			select {
			case <-s.output.marked:
			case <-s.ended:
				return now, false
			}
		}
		var ok bool
		hold := now.hold
		if now, ok = s.send(func(reply chan<- held) tea.Msg { return settledMsg{hold, reply} }); !ok {
			return now, false
		}
	}
	return now, true
}

// wrap breaks a text into rows of a width. Colours end with each row and begin again in the next.
func wrap(text string, width int) []string {
	text = strings.ReplaceAll(text, "\t", "    ")
	if !strings.Contains(text, "\n") && ansi.StringWidth(text) <= width {
		return []string{text}
	}
	rows := strings.Split(ansi.Hardwrap(text, width, true), "\n")
	color := ""
	for i, row := range rows {
		row = color + row
		color = lastColor(row)
		if color != "" {
			row += reset
		}
		if row == "" {
			row = " " // a message without text is not printed
		}
		rows[i] = row
	}
	return rows
}

const reset = "\x1b[0m"

// lastColor is the sequence that is in force at the end of a row.
func lastColor(row string) string {
	i := strings.LastIndex(row, "\x1b[")
	if i < 0 {
		return ""
	}
	sequence, _, _ := strings.Cut(row[i:], "m")
	if sequence += "m"; sequence == reset {
		return ""
	}
	return sequence
}

// output is the terminal, as the program writes to it.
type output struct {
	file   *os.File
	marked chan struct{}
	stop   context.CancelFunc // ends the program, which takes no notice of a terminal that is gone

	mu  sync.Mutex
	err error // the first one
}

// Write passes on what is drawn, and reports the mark of a frame.
func (o *output) Write(p []byte) (int, error) {
	marked := bytes.Contains(p, []byte(frameMark))
	text := p
	if marked {
		text = bytes.ReplaceAll(p, []byte(frameMark), nil)
	}
	if _, err := o.file.Write(text); err != nil {
		o.fail(fmt.Errorf("drawing: %w", err))
		return 0, o.failure()
	}
	if marked {
		select {
		case o.marked <- struct{}{}:
		default:
		}
	}
	return len(p), nil
}

func (o *output) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	o.stop()
}

func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Read, Close and Fd make it a file, whose size the program asks for.
func (o *output) Read(p []byte) (int, error) { return o.file.Read(p) }

// Close closes nothing: the terminal is not the screen's own.
func (o *output) Close() error { return nil }

// Fd is the terminal's.
func (o *output) Fd() uintptr { return o.file.Fd() }
