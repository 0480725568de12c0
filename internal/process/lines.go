package process

import (
	"bytes"
	"strings"
)

// maxOutputLine bounds a line of a child's, in bytes; a longer one is handed on in parts.
const maxOutputLine = 64 << 10

// Lines is an [io.Writer] for a child's output that hands on each line, without its end. One goroutine may use it: give
// a child's two streams one value, which package os/exec then writes to from one goroutine, or two.
type Lines struct {
	each func(line string)
	rest []byte
}

// NewLines returns a writer that calls each for each line.
func NewLines(each func(line string)) *Lines { return &Lines{each: each} }

// Write never fails.
func (l *Lines) Write(text []byte) (int, error) {
	size := len(text)
	for {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		l.rest = append(l.rest, line...)
		for len(l.rest) > maxOutputLine {
			l.each(string(l.rest[:maxOutputLine]))
			l.rest = l.rest[maxOutputLine:]
		}
		if !ended {
			return size, nil
		}
		l.hand()
		text = rest
	}
}

// Flush hands on what the output ended with, if that was no whole line.
func (l *Lines) Flush() {
	if len(l.rest) > 0 {
		l.hand()
	}
}

func (l *Lines) hand() {
	l.each(strings.TrimSuffix(string(l.rest), "\r"))
	l.rest = l.rest[:0]
}
