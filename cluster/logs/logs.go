// Package logs keeps a log for each component of a cluster, in a file of its own that
// cannot grow without bound.
//
//	folder, err := logs.Open(dir, "etcd", "controllers", …)
//	ctx = klog.NewContext(ctx, logr.FromSlogHandler(folder.Logger("controllers").Handler()))
//
// A line is `2026-01-02T15:04:05.000000Z L message key=value…`, where L is one of I, W and E:
// times are in UTC and of one width, so that the lines of several logs sort by their text. A line
// that does not begin so continues the one before it. docs/inside/protocol.md describes the files to
// those who read them.
//
// [Folder.Klog] takes what Kubernetes logs without saying on whose behalf, in klog's own format.
package logs

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

const (
	// maxSize is what one file may grow to. Then it becomes the older one of two, and
	// the older one before it goes.
	maxSize = 8 << 20
	// Verbose is the level of klog that is written. At 2 controllers and the scheduler say why
	// they do not do something; from 4 on they log every step.
	Verbose = 2
)

// Folder holds the logs of one run of a cluster.
type Folder struct {
	files map[string]*file
}

// Open makes the folder dir with an empty log for each component. It removes what an earlier run has written.
func Open(dir string, components ...string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for logs: %w", err)
	}
	f := &Folder{files: make(map[string]*file, len(components))}
	for _, component := range components {
		log := &file{path: filepath.Join(dir, component+".log"), max: maxSize}
		if err := log.open(); err != nil {
			return nil, fmt.Errorf("open a log: %w", err)
		}
		_ = os.Remove(log.older()) // an old line more does no harm
		f.files[component] = log
	}
	return f, nil
}

// Logger returns the log of a component that Open was given; any other's is dropped.
func (f *Folder) Logger(component string) *slog.Logger {
	log, ok := f.files[component]
	if !ok {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(&handler{w: log})
}

// Klog returns a writer for lines in klog's format, which it turns into those of component.
func (f *Folder) Klog(component string) io.Writer { return klogLines{f.files[component]} }

// Silence drops everything from now on: components that are stopped complain about each other.
func (f *Folder) Silence() {
	for _, log := range f.files {
		log.silence()
	}
}

// file is a log that starts anew when it is full.
type file struct {
	path string
	max  int64

	mu     sync.Mutex
	f      *os.File
	size   int64
	silent bool
}

func (l *file) older() string { return l.path + ".1" }

func (l *file) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	l.f, l.size = f, 0
	return nil
}

func (l *file) silence() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = true
}

// Write writes one entry. That it could not is no reason for a component to fail.
func (l *file) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent {
		return len(p), nil
	}
	if l.size+int64(len(p)) > l.max && l.size > 0 {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return n, err
}

func (l *file) rotate() error {
	return errors.Join(l.f.Close(), os.Rename(l.path, l.older()), l.open())
}
