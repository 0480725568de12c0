package filewatch_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/filewatch"
	"github.com/slipway-dev/slipway/internal/report"
)

// watching is a project that is watched while a test changes it.
type watching struct {
	*testing.T
	root    string
	options filewatch.Options
	batches chan []string
	asked   chan struct{} // Options.Folders was called, which ends a batch
	mutex   sync.Mutex
	events  []report.Event
}

// newWatching makes a project with some files.
func newWatching(t *testing.T, poll bool) *watching {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &watching{T: t, root: root, batches: make(chan []string), asked: make(chan struct{}, 1)}
	w.options = filewatch.Options{
		Skip:    func(folder string) bool { return filepath.Base(folder) == "bin" },
		Matters: func(file string) bool { return strings.HasSuffix(file, ".go") },
		Folders: func() []filewatch.Folder { return []filewatch.Folder{{Path: w.root, Below: true}} },
		Quiet:   20 * time.Millisecond, Interval: 20 * time.Millisecond, Poll: poll, Handler: report.HandlerFunc(w.handle),
	}
	for _, name := range []string{"a.go", "api/types.go", "api/v1/more.go", "bin/tool.go"} {
		w.save(name, "package p")
	}
	return w
}

func (w *watching) handle(e report.Event) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.events = append(w.events, e)
}

// texts are those of the notes and warnings.
func (w *watching) texts() (texts []string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, event := range w.events {
		switch e := event.(type) {
		case report.Note:
			texts = append(texts, e.Text)
		case report.Warning:
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// begin begins to watch, and returns once changes are noticed.
func (w *watching) begin() *watching {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	folders := w.options.Folders
	options := w.options
	options.Folders = func() []filewatch.Folder {
		select {
		case w.asked <- struct{}{}:
		default:
		}
		return folders()
	}
	go func() {
		ended <- filewatch.Watch(ctx, options, func() { close(ready) }, func(files []string) {
			select {
			case w.batches <- files:
			case <-ctx.Done():
			}
		})
	}()
	w.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
	<-ready
	<-w.asked
	return w.calm()
}

// held makes each change while the watcher's goroutine waits for it, so that it is one batch however slow the machine
// is, and returns the batches.
func (w *watching) held(changes ...func()) (batches [][]string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	w.options.Quiet, w.options.MaxDelay = 200*time.Millisecond, time.Minute
	w.must(filewatch.Watch(ctx, w.options, changes[0], func(files []string) {
		batches = append(batches, files)
		if len(batches) < len(changes) {
			changes[len(batches)]()
		} else {
			cancel()
		}
	}))
	if len(batches) < len(changes) {
		w.Fatalf("only %d batches came", len(batches))
	}
	return batches
}

// calm returns when events are no longer taken for those of work that goes on, which is a matter of time.
func (w *watching) calm() *watching {
	<-time.After(w.options.Quiet)
	return w
}

// batch returns the next batch, once changed has returned.
func (w *watching) batch() []string {
	w.Helper()
	select {
	case files := <-w.batches:
		<-w.asked
		w.calm()
		return files
	case <-time.After(time.Minute):
		w.Fatal("no file was reported")
		return nil
	}
}

// expect waits until the files have been reported, and then makes a last change, to see that no others are. The machine
// may be so slow that a batch comes in parts.
func (w *watching) expect(names ...string) {
	w.Helper()
	const last = "last.go"
	got := map[string]bool{}
	until := func(names ...string) {
		w.Helper()
		for slices.ContainsFunc(names, func(name string) bool { return !got[name] }) {
			for _, file := range w.batch() {
				got[strings.TrimPrefix(filepath.ToSlash(file), filepath.ToSlash(w.root)+"/")] = true
			}
		}
	}
	until(names...)
	w.replace(last, time.Now().String())
	until(last)
	delete(got, last)
	if found := slices.Sorted(maps.Keys(got)); !slices.Equal(found, slices.Sorted(slices.Values(names))) {
		w.Errorf("reported are %q, want %q", found, names)
	}
}

func (w *watching) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// path is where a file of the project is.
func (w *watching) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

// save writes a file, as a program does that takes no care.
func (w *watching) save(name, text string) {
	w.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	w.must(os.WriteFile(w.path(name), []byte(text), 0o644))
}

// overwrite writes as many bytes as a file has, so that at no time it has fewer.
func (w *watching) overwrite(name, text string) {
	w.Helper()
	file, err := os.OpenFile(w.path(name), os.O_WRONLY, 0)
	w.must(err)
	_, err = file.WriteString(text)
	w.must(err)
	w.must(file.Close())
}

// replace writes another file, and gives it the name.
func (w *watching) replace(name, text string) {
	w.Helper()
	w.save(name+".tmp", text)
	w.move(name+".tmp", name)
}

func (w *watching) move(from, to string) {
	w.Helper()
	w.must(os.Rename(w.path(from), w.path(to)))
}

func (w *watching) remove(name string) {
	w.Helper()
	w.must(os.RemoveAll(w.path(name)))
}
