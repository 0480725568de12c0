package cri

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// logFile is a container's log in the CRI's format, which the kubelet reads: a time, a stream and a tag before each
// line.
type logFile struct {
	path string // empty for no log

	mu sync.Mutex
	f  *os.File // nil while closed
}

// newLog returns the log at path below the pod's folder. If either is empty it keeps nothing, as other runtimes do.
func newLog(folder, path string) *logFile {
	if folder == "" || path == "" {
		return &logFile{}
	}
	return &logFile{path: filepath.Join(folder, path)}
}

// logMode denies other users access.
const logMode = 0o640

// open opens the file anew, and closes the previous one.
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

// longest is the length, in bytes, at which a line is split, as by default in containerd (max_container_log_line_size).
const longest = 16 << 10

// copy logs a stream line by line until it ends. Attached clients get each read at once, because a prompt does not end
// its line.
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

// writeLines logs the lines in the first n bytes of buffer. It moves an unfinished line to the front and returns its
// length.
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

// write logs one line, with the tag F, or a part of one, with the tag P.
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
