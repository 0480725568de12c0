package cri

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// logFile is a container's log as the kubelet reads it: each line with its time and stream.
type logFile struct {
	path string

	mu sync.Mutex
	f  *os.File // nil while it is closed
}

// logMode lets the kubelet alone read it.
const logMode = 0o640

// open opens the file, in place of the one that may be open.
func (l *logFile) open() error {
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

// copy writes what comes from a stream, until that ends, also to whoever is attached.
func (l *logFile) copy(stream string, from io.Reader, attached *attached) {
	reader := bufio.NewReaderSize(from, longest)
	for {
		line, err := reader.ReadSlice('\n')
		if len(line) > 0 {
			l.write(stream, line)
			attached.write(stream, line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
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
