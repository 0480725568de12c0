package kustomizefs

import (
	"context"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/internal/git"
)

// Await runs work of kustomize's, which takes no context and reads from a disk, and returns its result, or the cause of
// ctx once that ends: a replacement can keep kustomize busy without end. Work that was not waited for goes on until the
// process ends, so the process is to end soon. While any work goes on, also such, kustomize's requests are answered by
// its disk, and its git fetches from nowhere.
func Await[T any](ctx context.Context, disk *Disk, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	disk.ctx, disk.network = ctx, networkOf(ctx)
	done := make(chan result, 1)
	go func() {
		end := environment.begin(disk)
		value, err := work()
		end() // before the next work can begin, whose requests would be answered by this disk
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// environment is what kustomize uses of the process: git's variable, which it hands on to git, and the transport of
// clients without one of their own.
var environment works

// works are those that go on.
type works struct {
	sync.Mutex
	disks []*Disk
	once  sync.Once
	held  bool   // git's variable, which has the user's value again after the last of them
	value string // of the user's
	set   bool
}

// begin has requests and git held until end is called, and until the end of all other works.
func (w *works) begin(d *Disk) (end func()) {
	w.once.Do(func() {
		http.DefaultTransport = transport{http.DefaultTransport, w}
		skipPaths()
	})
	w.Lock()
	defer w.Unlock()
	w.disks = append(w.disks, d)
	w.hold()
	return func() {
		w.Lock()
		defer w.Unlock()
		at := slices.Index(w.disks, d)
		w.disks = slices.Delete(w.disks, at, at+1)
		w.hold()
	}
}

// hold sets git's variable as the works need it.
func (w *works) hold() {
	if !w.held {
		w.value, w.set = os.LookupEnv(git.Protocols)
	}
	w.held = len(w.disks) > 0
	value, needed := w.value, w.set
	switch {
	case slices.ContainsFunc(w.disks, func(d *Disk) bool { return !d.OwnGit }):
		value, needed = "none", true
	case w.held && value == "":
		value, needed = git.Remote, true
	}
	if needed {
		_ = os.Setenv(git.Protocols, value) // fails for names and values that no variable can have
		return
	}
	_ = os.Unsetenv(git.Protocols)
}

// protocols are those that the user has git fetch by, or "".
func (w *works) protocols() string {
	w.Lock()
	defer w.Unlock()
	return w.value
}

// current is the disk of the work that a request is of, or nil without one. Of several that are waited for it is the
// one with least rights.
func (w *works) current() *Disk {
	w.Lock()
	defer w.Unlock()
	var current *Disk
	for _, d := range w.disks {
		if current == nil || d.ctx.Err() == nil && (current.ctx.Err() != nil || d.network == nil) {
			current = d
		}
	}
	return current
}

// transport answers the requests of works by their disks, and passes on all others.
type transport struct {
	http.RoundTripper
	works *works
}

// RoundTrip answers a request.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	disk := t.works.current()
	if disk == nil {
		return t.RoundTripper.RoundTrip(request)
	}
	p, err := disk.get(t.RoundTripper, request)
	if err != nil {
		return nil, err
	}
	return p.response(request), nil
}
