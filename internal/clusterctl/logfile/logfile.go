// Package logfile reads the logs that a cluster's components write, as docs/inside/protocol.md
// describes them, and merges them by time.
//
//	logs := logfile.Of(dir, "controllers", "scheduler")
//	entries, err := logs.Read()   // all there is, then again what is new
//
// A log that does not exist is empty. A log that begins anew, because it was full or
// because the cluster was started again, is read from its beginning.
package logfile

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Entry is one entry of a log.
type Entry struct {
	Time      string `json:"time"` // in UTC, 2026-01-02T15:04:05.000000Z
	Level     string `json:"level"`
	Component string `json:"component"`
	Message   string `json:"message"` // of several lines, if need be
}

// Logs are the logs of some components.
type Logs struct{ sources []*source }

// Of returns the logs of the components in dir.
func Of(dir string, components ...string) *Logs {
	l := &Logs{}
	for _, component := range components {
		l.sources = append(l.sources, &source{component: component, path: filepath.Join(dir, component+".log")})
	}
	return l
}

// Read returns the entries that were written since the last Read, in the order of their times.
func (l *Logs) Read() ([]Entry, error) {
	var all []Entry
	for _, s := range l.sources {
		entries, err := s.read()
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return cmp.Compare(a.Time, b.Time) })
	return all, nil
}

// source is one log and how far it was read.
type source struct {
	component string
	path      string
	begun     bool
	file      fs.FileInfo // that was read last
	offset    int64
	rest      []byte // of an entry that is not complete yet
}

// read returns the entries that are new.
func (s *source) read() ([]Entry, error) {
	var text []byte
	if !s.begun {
		s.begun = true
		older, _, err := tail(s.path+".1", 0)
		if err != nil {
			return nil, err
		}
		text = older
	}
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s.entries(text), nil
	}
	if err != nil {
		return nil, err
	}
	if s.file != nil && (!os.SameFile(s.file, info) || info.Size() < s.offset) {
		text = append(text, s.missed(info)...)
		s.offset = 0
	}
	s.file = info
	newer, n, err := tail(s.path, s.offset)
	if err != nil {
		return nil, err
	}
	s.offset += n
	return s.entries(append(text, newer...)), nil
}

// missed is the end of a file that became the older one since it was read.
func (s *source) missed(now fs.FileInfo) []byte {
	older, err := os.Stat(s.path + ".1")
	if err != nil || os.SameFile(s.file, now) || !os.SameFile(s.file, older) {
		return nil
	}
	text, _, err := tail(s.path+".1", s.offset)
	if err != nil {
		return nil // the next one pushed it out
	}
	return text
}

// tail reads a file from offset on, and returns how much that was.
func tail(path string, offset int64) (text []byte, n int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	text, err = io.ReadAll(io.NewSectionReader(f, offset, 1<<40))
	return text, int64(len(text)), err
}

// entries takes text apart. A line that is not complete is kept for the next time.
func (s *source) entries(text []byte) []Entry {
	text = append(s.rest, text...)
	end := bytes.LastIndexByte(text, '\n') + 1
	s.rest = bytes.Clone(text[end:])
	var all []Entry
	for line := range strings.Lines(string(text[:end])) {
		line = strings.TrimRight(line, "\r\n")
		if entry, ok := parse(line); ok {
			entry.Component = s.component
			all = append(all, entry)
		} else if len(all) > 0 {
			all[len(all)-1].Message += "\n" + line
		}
	}
	return all
}

// timeLength is the length of an entry's time.
const timeLength = len("2026-01-02T15:04:05.000000Z")

// parse reads the first line of an entry: time, letter, message.
func parse(line string) (Entry, bool) {
	if len(line) < timeLength+3 || line[timeLength-1] != 'Z' || line[timeLength] != ' ' || line[10] != 'T' || line[timeLength+2] != ' ' {
		return Entry{}, false
	}
	return Entry{Time: line[:timeLength], Level: line[timeLength+1 : timeLength+2], Message: line[timeLength+3:]}, true
}
