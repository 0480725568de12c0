package cri

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// logFile is a container's log as the kubelet reads it: each line with its time and stream.
type logFile struct {
	path string // empty for a container without a log

	mu sync.Mutex
	f  *os.File // nil while it is closed
}

// newLog is what a container's path below its pod's folder says: nothing is kept where either is missing, as with other
// runtimes.
func newLog(folder, path string) *logFile {
	if folder == "" || path == "" {
		return &logFile{}
	}
	return &logFile{path: filepath.Join(folder, path)}
}

// logMode lets the kubelet alone read it.
const logMode = 0o640

// open opens the file, in place of the one that may be open.
func (l *logFile) open() error {
	if l.path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(l.path), folderMode); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, logMode)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		_ = l.f.Close()
	}
	l.f = f
	return nil
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		_ = l.f.Close()
		l.f = nil
	}
}

// longest is how long a line gets before it is written in parts.
const longest = 16 << 10

// copy writes what comes from a stream, line by line, until that ends. Attached clients get each part as it comes: a
// prompt does not end a line.
func (l *logFile) copy(stream string, from io.Reader, attached *attached) {
	buffer, kept := make([]byte, longest), 0
	for {
		n, err := from.Read(buffer[kept:])
		if n > 0 {
			attached.write(stream, buffer[kept:kept+n])
			kept = l.writeLines(stream, buffer, kept+n)
		}
		if err != nil {
			if kept > 0 {
				l.write(stream, buffer[:kept])
			}
			return
		}
	}
}

// writeLines writes the lines that the first n bytes of a buffer hold, and moves the beginning of the next one to the
// front, whose length it returns.
func (l *logFile) writeLines(stream string, buffer []byte, n int) int {
	text := buffer[:n]
	for end := bytes.IndexByte(text, '\n'); end >= 0; end = bytes.IndexByte(text, '\n') {
		l.write(stream, text[:end+1])
		text = text[end+1:]
	}
	if len(text) == len(buffer) {
		l.write(stream, text)
		return 0
	}
	return copy(buffer, text)
}

// write writes one line, or a part of one.
func (l *logFile) write(stream string, line []byte) {
	tag := " P "
	if line[len(line)-1] == '\n' {
		tag = " F "
		line = line[:len(line)-1]
	}
	entry := time.Now().AppendFormat(make([]byte, 0, len(line)+64), time.RFC3339Nano)
	entry = append(entry, ' ')
	entry = append(entry, stream...)
	entry = append(entry, tag...)
	entry = append(entry, line...)
	entry = append(entry, '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		_, _ = l.f.Write(entry) // a full disk must not stop the container
	}
}
