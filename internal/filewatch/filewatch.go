// Package filewatch calls a function with the files of a project that have changed, batch by batch.
//
//	err := filewatch.Watch(ctx, filewatch.Options{
//		Folders: func() []filewatch.Folder { return []filewatch.Folder{{Path: root, Below: true}} },
//		Skip:    func(folder string) bool { return sourcefolder.WithoutCode(filepath.Base(folder)) },
//		Matters: func(file string) bool { return filepath.Ext(file) == ".go" },
//		Quiet:   40 * time.Millisecond,
//		Handler: handler,
//	}, ready, changed)
//
// # Batches
//
// What an editor does to save a file, what git does to change a branch, and what a formatter does after a save, is one
// batch: it ends once nothing has happened for [Options.Quiet], and at the latest [Options.MaxDelay] after its first
// event. The files are then compared with what they were after the batch before. A file that went and came back is in
// it once. One that came and went is not in it, nor is one of which only the mode has changed, or that was written with
// the bytes that it had. These are known of files of at most 1 MiB that have changed before, by a hash: a project is
// not read as a whole.
//
// # Work that takes long
//
// All calls are in the goroutine of the caller of [Watch]. While one runs, changes are collected by the operating
// system, and if these were too many, by comparing the files afterwards. So changed may do the work itself. To end work
// that a newer batch makes useless, let it begin the work in a goroutine, and return:
//
//	stop := func() {}
//	changed := func(files []string) {
//		stop() // cancels the work before, and waits for its end
//		stop = begin(ctx, files)
//	}
//
// [Options.Busy] then has to report whether the work goes on.
//
// # Without events
//
// Some file systems do not report changes: those of other machines, which others may write to, and those that pass a
// folder into a virtual machine. Where there is such a folder, or where a limit of the operating system is reached, all
// folders are read twice a second instead; see [Options.Interval]. A note reports it.
package filewatch

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/slipway-dev/slipway/internal/report"
)

// A Folder is one to watch.
type Folder struct {
	Path  string // the names of its changed files begin with it; it may be a link, and need not exist yet
	Below bool   // with the folders below it, but not those that links in it lead to
}

// Options are what to watch, and how.
type Options struct {
	// Folders returns the folders to watch. It is called again after each batch. What has changed in a folder before it
	// was first returned is not reported.
	Folders func() []Folder
	// Skip reports whether to pass over a folder below one of Folders; nil passes over none.
	Skip func(folder string) bool
	// Matters reports whether a file is to be reported; nil means every file. Its answers may change with a batch.
	Matters func(file string) bool
	// Quiet is how long nothing must have happened at the end of a batch; 0 means 100 ms.
	Quiet time.Duration
	// MaxDelay is how long after its first event a batch ends though files still change; 0 means 1 s.
	MaxDelay time.Duration
	// Poll has the folders read again and again, also where the file system reports changes.
	Poll bool
	// Interval is how often they are read then, or where changes are not reported; 0 means 500 ms. It is twice as long
	// when nothing has changed for a minute, or when reading takes more than a hundredth of the time.
	Interval time.Duration
	// Busy reports whether work that reads the files goes on after changed has returned; nil means that none does. A
	// file that is written meanwhile with the bytes that it had is reported, for the work may have read it half
	// written. The same holds for files that are written while changed runs.
	Busy func() bool
	// MaxFolders and MaxFiles limit what is watched; 0 means 10,000 and 100,000. What is beyond, and what is more than
	// 64 folders below one of Folders, is passed over with a warning.
	MaxFolders, MaxFiles int
	// Handler receives a report.Note when folders are read again and again, with the reason, and a report.Warning for
	// what cannot be watched; nil drops them.
	Handler report.Handler
}

const (
	defaultQuiet      = 100 * time.Millisecond
	defaultMaxDelay   = time.Second
	defaultInterval   = 500 * time.Millisecond
	defaultMaxFolders = 10_000
	defaultMaxFiles   = 100_000
)

// Watch calls changed with each batch of files that have changed, until ctx ends, and then returns nil. The names are
// sorted, and begin with the Path of the [Folder] that each was found in first. Ready is called once when all folders
// are watched; what changes after that is reported. Nothing of it is left when Watch returns. It fails if one of the
// folders cannot be read at the beginning, as for lack of a permission.
func Watch(ctx context.Context, options Options, ready func(), changed func(files []string)) error {
	t := newTree(options.withDefaults())
	defer t.close()
	if t.options.Poll {
		t.poll("as requested")
	} else if watcher, err := fsnotify.NewWatcher(); err != nil {
		t.poll(reason(err))
	} else {
		t.watcher = watcher
	}
	t.sync(ctx)
	if t.failed != nil {
		return t.failed
	}
	t.began = true
	ready()
	newLoop(t, changed).run(ctx)
	return nil
}

func (o Options) withDefaults() Options {
	if o.Skip == nil {
		o.Skip = func(string) bool { return false }
	}
	if o.Matters == nil {
		o.Matters = func(string) bool { return true }
	}
	if o.Busy == nil {
		o.Busy = func() bool { return false }
	}
	if o.Handler == nil {
		o.Handler = report.Discard
	}
	o.Quiet = orDefault(o.Quiet, defaultQuiet)
	o.MaxDelay = orDefault(o.MaxDelay, defaultMaxDelay)
	o.Interval = orDefault(o.Interval, defaultInterval)
	o.MaxFolders = orDefault(o.MaxFolders, defaultMaxFolders)
	o.MaxFiles = orDefault(o.MaxFiles, defaultMaxFiles)
	return o
}

func orDefault[T time.Duration | int](value, otherwise T) T {
	if value <= 0 {
		return otherwise
	}
	return value
}
