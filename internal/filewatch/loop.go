package filewatch

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// patience is how long nothing must have changed before polls become rarer.
const patience = time.Minute

// loop collects what happens into batches.
type loop struct {
	*tree
	changed func([]string)
	timer   *time.Timer
	all     bool            // all folders are dirty
	first   time.Time       // the first event of the batch; zero without one
	found   map[string]file // what the last poll found
	unsure  bool            // work may have read files of the batch when they were half written
	worked  time.Time       // when changed last returned
	active  time.Time       // when files have last changed
}

func newLoop(t *tree, changed func([]string)) *loop {
	return &loop{tree: t, changed: changed, active: time.Now(), worked: time.Now()}
}

// run runs until the context ends.
func (l *loop) run(ctx context.Context) {
	l.timer = time.NewTimer(l.options.Interval)
	defer l.timer.Stop()
	if l.watcher == nil {
		l.timer.Reset(0) // what changed while ready ran
	}
	for ctx.Err() == nil {
		var events <-chan fsnotify.Event
		var failures <-chan error
		watching := l.watcher != nil
		if watching {
			events, failures = l.watcher.Events, l.watcher.Errors
		}
		select {
		case <-ctx.Done():
		case <-l.timer.C:
			l.due(ctx)
		case event := <-events:
			if l.see(ctx, event) {
				l.extend(ctx)
			}
		case err := <-failures:
			l.fail(ctx, err)
		}
		if watching && l.watcher == nil {
			l.timer.Reset(0)
		}
	}
}

// due does what the timer was set for.
func (l *loop) due(ctx context.Context) {
	switch {
	case l.watcher == nil:
		l.pollOnce(ctx)
	case !l.first.IsZero():
		l.flush(ctx)
	default:
		l.await(ctx)
	}
}

// see handles an event, and reports whether it belongs to a batch.
func (l *loop) see(ctx context.Context, event fsnotify.Event) bool {
	path, dir := event.Name, filepath.Dir(event.Name)
	f, parent := l.folders[path], l.folders[dir]
	if event.Op == fsnotify.Chmod {
		if f != nil && !f.watched { // it may have become readable
			l.dirty[path] = true
			return true
		}
		return false
	}
	if f != nil {
		if event.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 { // another folder may be there
			l.leave(path)
		}
		l.dirty[path], l.dirty[dir] = true, true
	}
	switch {
	case parent == nil:
		return f != nil
	case event.Has(fsnotify.Create) && parent.below && isFolder(path):
		l.glance(func(differences map[string]file) { l.lookBelow(ctx, dir, filepath.Base(path), true, differences) })
		l.dirty[path], l.dirty[dir] = true, true
		return true
	case l.options.Matters(filepath.Join(parent.name, filepath.Base(path))):
		l.written[path], l.dirty[dir] = true, true
		return true
	}
	return f != nil
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// fail handles an error of the watcher. After an overflow of its queue all folders are compared; it is not used after
// other errors.
func (l *loop) fail(ctx context.Context, err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		l.poll(reason(err))
		return
	}
	l.renew()
	l.scan(ctx)
	l.all = true
	l.extend(ctx)
}

// extend begins a batch or goes on with it.
func (l *loop) extend(ctx context.Context) {
	l.doubt()
	if l.first.IsZero() {
		l.first = time.Now()
	}
	if rest := l.options.MaxDelay - time.Since(l.first); rest > 0 {
		l.timer.Reset(min(l.options.Quiet, rest))
	} else {
		l.due(ctx) // at once: each event would put the timer off
	}
}

// doubt notes whether work was going on while the files of the batch were written. An event that comes soon after
// changed has returned may be older than its return.
func (l *loop) doubt() {
	l.unsure = l.unsure || time.Since(l.worked) < l.options.Quiet || l.options.Busy()
}

// flush ends a batch of events.
func (l *loop) flush(ctx context.Context) {
	differences := map[string]file{}
	if l.all {
		differences = l.scan(ctx)
	}
	for path := range l.dirty {
		l.look(ctx, path, false, differences)
	}
	l.deliver(ctx, differences)
	if l.watcher != nil && l.first.IsZero() {
		l.timer.Reset(2 * l.options.Interval)
	}
}

// scan compares all folders.
func (l *loop) scan(ctx context.Context) map[string]file {
	differences := map[string]file{}
	for _, path := range l.tops {
		l.look(ctx, path, true, differences)
	}
	return differences
}

// deliver calls changed, if files have changed, and begins anew.
func (l *loop) deliver(ctx context.Context, differences map[string]file) {
	if ctx.Err() != nil {
		return // then not everything was compared
	}
	l.doubt()
	names := l.settle(differences, l.unsure)
	clear(l.dirty)
	l.all, l.first, l.found, l.unsure = false, time.Time{}, nil, false
	if len(names) == 0 {
		return
	}
	l.changed(names)
	l.worked, l.active = time.Now(), time.Now()
	l.sync(ctx)
	if l.watcher != nil && len(l.dirty) > 0 {
		l.extend(ctx)
	}
}

// pollOnce compares all folders. A batch ends when two polls in a row find the same.
func (l *loop) pollOnce(ctx context.Context) {
	began := time.Now()
	differences := l.scan(ctx)
	took := time.Since(began)
	if len(differences) == 0 {
		l.deliver(ctx, nil)
		l.timer.Reset(l.interval(took))
		return
	}
	if l.first.IsZero() {
		l.first = began
	}
	l.doubt()
	if !maps.Equal(differences, l.found) && time.Since(l.first) < l.options.MaxDelay {
		l.found = differences
		l.timer.Reset(max(l.options.Quiet, took))
		return
	}
	before := l.worked
	l.deliver(ctx, differences)
	if l.worked.Equal(before) {
		l.timer.Reset(l.interval(took))
	} else {
		l.timer.Reset(0) // what changed meanwhile, and what matters now
	}
}

// interval is how long to wait after a poll that took so long and has found nothing.
func (l *loop) interval(took time.Duration) time.Duration {
	if time.Since(l.active) > patience || took > l.options.Interval/100 {
		return 2 * l.options.Interval
	}
	return l.options.Interval
}

// await looks for folders that were to be watched and do not exist.
func (l *loop) await(ctx context.Context) {
	for _, path := range l.tops {
		if f := l.folders[path]; f != nil && !f.watched {
			if _, err := os.Stat(path); err == nil {
				l.dirty[path] = true
			}
		}
	}
	if len(l.dirty) > 0 {
		l.extend(ctx)
		return
	}
	l.timer.Reset(2 * l.options.Interval)
}
