package loop_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/dev/loop"
	"github.com/slipway-dev/slipway/internal/report"
)

// yard is a project whose work takes as long as a test wants, and fails when it wants.
type yard struct {
	mu      sync.Mutex
	did     []string
	why     string
	follows loop.Work // from generating

	began      chan string                                  // what begins
	end, noted chan struct{}                                // lets it end, and that it has
	outcome    func(ctx context.Context, what string) error // of what ends; nil: well
	same       bool                                         // the program does not change
	works      map[string]loop.Work                         // of files
}

func newYard() *yard {
	return &yard{began: make(chan string), end: make(chan struct{}), noted: make(chan struct{}), works: map[string]loop.Work{
		"types.go": loop.Generate | loop.Build, "reconciler.go": loop.Build, "crd.yaml": loop.Install, ".env": loop.Restart, "sample.yaml": loop.Samples,
	}}
}

// do is what all work consists of: it begins, and ends when the test lets it or it is given up.
func (y *yard) do(ctx context.Context, what string) error {
	y.began <- what
	select {
	case <-y.end:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { y.noted <- struct{}{} }()
	if y.outcome != nil {
		if err := y.outcome(ctx, what); err != nil {
			return err
		}
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.did = append(y.did, what)
	return nil
}

func (y *yard) Work(files []string) (all loop.Work) {
	for _, f := range files {
		all |= y.works[f]
	}
	return all
}

func (y *yard) Generate(ctx context.Context) (loop.Work, string, error) {
	return y.follows, "", y.do(ctx, "generate")
}
func (y *yard) Install(ctx context.Context) (string, error) { return "", y.do(ctx, "install") }
func (y *yard) Build(ctx context.Context) (bool, error)     { return !y.same, y.do(ctx, "build") }
func (y *yard) Restart(ctx context.Context) (string, error) { return "", y.do(ctx, "restart") }
func (y *yard) Samples(ctx context.Context) (string, error) { return "", y.do(ctx, "samples") }
func (y *yard) Test(ctx context.Context) (string, error)    { return "", y.do(ctx, "test") }
func (y *yard) Serve(context.Context) error                 { return nil }
func (y *yard) Fail(why string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.why = why
}

// all returns what was done.
func (y *yard) all() []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Clone(y.did)
}

// run runs a loop until the test ends. The function returned saves files.
func (y *yard) run(t *testing.T, o loop.Options) (save func(files ...string), events <-chan report.Part) {
	t.Helper()
	saves, parts := make(chan []string), make(chan report.Part, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	o.Project, o.Saves = y, saves
	o.Handler = report.HandlerFunc(func(e report.Event) {
		if p, ok := e.(report.Part); ok {
			parts <- p
		}
	})
	go func() { ended <- loop.Run(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func(files ...string) { saves <- files }, parts
}

// expect wants work to begin next, in any order, and lets it end.
func (y *yard) expect(t *testing.T, what ...string) {
	t.Helper()
	var got []string
	for range what {
		got = append(got, <-y.began)
	}
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(what)); !slices.Equal(got, want) {
		t.Fatalf("%v begins, want %v", got, want)
	}
	for range what {
		y.end <- struct{}{}
		<-y.noted
	}
}

// TestOrder: at first all is done in order, then only what a save makes necessary.
func TestOrder(t *testing.T) {
	y := newYard()
	save, _ := y.run(t, loop.Options{})
	y.expect(t, "generate")
	y.expect(t, "install", "build")
	y.expect(t, "restart")
	save("reconciler.go")
	y.expect(t, "build")
	y.expect(t, "restart")
	save("README.md")
	save("crd.yaml")
	y.expect(t, "install")
	save(".env")
	y.expect(t, "restart")
	save("sample.yaml", "crd.yaml")
	y.expect(t, "install")
	y.expect(t, "samples")
	y.follows = loop.Install
	save("types.go")
	y.expect(t, "generate")
	y.expect(t, "install", "build")
	y.expect(t, "restart")
}

// TestSameProgram: a manager that was built anew and is the same one is not restarted.
func TestSameProgram(t *testing.T) {
	y := newYard()
	save, _ := y.run(t, loop.Options{First: loop.Restart})
	y.expect(t, "restart")
	y.same = true
	save("reconciler.go")
	y.expect(t, "build")
	save("crd.yaml")
	y.expect(t, "install")
	if got := y.all(); !slices.Equal(got, []string{"restart", "build", "install"}) {
		t.Errorf("%v", got)
	}
}

// TestCancel: a save gives up what the one before began, and nothing that was left undone is forgotten.
func TestCancel(t *testing.T) {
	y := newYard()
	save, events := y.run(t, loop.Options{First: loop.Samples})
	y.expect(t, "samples")
	save("types.go")
	if what := <-y.began; what != "generate" {
		t.Fatal(what)
	}
	save("reconciler.go") // while it generates
	y.expect(t, "generate")
	if what := <-y.began; what != "build" {
		t.Fatal(what)
	}
	save("crd.yaml") // while it builds
	y.expect(t, "build", "install")
	y.expect(t, "restart")
	var last report.Part
	for len(events) > 0 {
		last = <-events
	}
	if last.Save != 3 {
		t.Errorf("the last event is of save %d: %+v", last.Save, last)
	}
}

var errBroken = errors.New("undefined: x")

// TestFailure: after a failed build the manager that runs goes on, the project learns why, and the next save does all
// that is left.
func TestFailure(t *testing.T) {
	y := newYard()
	save, events := y.run(t, loop.Options{First: loop.Restart})
	y.expect(t, "restart")
	y.outcome = func(_ context.Context, what string) error {
		if what == "build" {
			return &report.Error{What: "the manager does not build", Err: errBroken}
		}
		return nil
	}
	y.follows = loop.Install
	save("types.go")
	y.expect(t, "generate")
	y.expect(t, "install", "build")
	for p := range events {
		if p.State == report.Failed {
			if p.Name != report.BuildPart || p.Text != "the manager does not build: undefined: x" {
				t.Errorf("%+v", p)
			}
			break
		}
	}
	y.follows, y.outcome = 0, nil
	save("crd.yaml") // it may be what was wrong
	y.expect(t, "install", "build")
	y.expect(t, "restart")
	if got := y.all(); !slices.Equal(got[:3], []string{"restart", "generate", "install"}) || got[len(got)-1] != "restart" || len(got) != 6 {
		t.Errorf("%v", got)
	}
}

// TestAlways: tests run after each save that changes code, and a failure of theirs restarts nothing.
func TestAlways(t *testing.T) {
	y := newYard()
	requests := make(chan loop.Request)
	save, _ := y.run(t, loop.Options{First: loop.Restart, Always: loop.Test, Requests: requests})
	y.expect(t, "restart")
	y.outcome = func(_ context.Context, what string) error {
		if what == "test" {
			return errBroken
		}
		return nil
	}
	save("reconciler.go")
	y.expect(t, "build")
	y.expect(t, "restart")
	y.expect(t, "test")
	save("crd.yaml")
	y.expect(t, "install")
	y.expect(t, "test")
	requests <- loop.Request{Work: loop.Samples}
	y.expect(t, "samples")
	y.expect(t, "test")
	did := make(chan struct{})
	requests <- loop.Request{Do: func(context.Context) error { close(did); return nil }}
	<-did
}
