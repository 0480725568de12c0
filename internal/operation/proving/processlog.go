package proving

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// processLogs are what the processes of the operator print: a file for each.
type processLogs struct {
	mu     sync.Mutex
	opened int
	turn   string // the file of the process whose turn came last
}

// A processLog is what one process prints.
type processLog struct {
	logs *processLogs
	path string
	read int64 // up to where panics were looked for
}

// open begins the log of a process in a folder.
func (l *processLogs) open(folder string) (*processLog, *os.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened++
	log := &processLog{logs: l, path: filepath.Join(folder, fmt.Sprintf("operator-%d.log", l.opened))}
	file, err := appendTo(log.path)
	return log, file, err
}

// last is the file of the process whose turn came last; empty: none has come.
func (l *processLogs) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turn
}

// comes notes that it is the process's turn.
func (p *processLog) comes() {
	p.logs.mu.Lock()
	defer p.logs.mu.Unlock()
	p.logs.turn = p.path
}

// remove removes the log of a process that has ended, unless it may be shown.
func (p *processLog) remove() {
	if p.logs.last() != p.path {
		_ = os.Remove(p.path) // it goes with the folder
	}
}

// mostScanned bounds how much of a log is looked through at a time, in bytes.
const mostScanned = 4 << 20

// panicked is how apimachinery's HandleCrash, by which controller-runtime recovers, logs a panic: as text or as JSON.
var panicked = lazy.Regexp(`Observed a panic.*?(?:"panic": ?|panic=)"((?:[^"\\]|\\.){0,300})`)

// panic is the first panic that the process has recovered from and logged since the last call; empty: there is none.
func (p *processLog) panic() string {
	log, err := os.Open(p.path)
	if err != nil {
		return ""
	}
	defer log.Close()
	size, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	from := max(p.read, size-mostScanned)
	p.read = size
	text := make([]byte, size-from)
	n, _ := log.ReadAt(text, from) // less only if it was cut meanwhile
	for line := range strings.Lines(string(text[:n])) {
		if found := panicked().FindStringSubmatch(line); found != nil {
			return strings.ReplaceAll(found[1], `\"`, `"`)
		}
	}
	return ""
}
