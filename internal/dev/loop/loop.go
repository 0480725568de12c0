// Package loop decides what the dev loop does, and in which order: a save cancels what the one before began, only what
// a save makes necessary is done, and what ran before goes on while something fails.
//
//	err := loop.Run(ctx, loop.Options{Project: project, Saves: saves, Requests: keys, Handler: handler})
//
// The package knows neither Go nor Kubernetes: a [Project] does the work.
package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/internal/report"
)

// Work is a set of what there is to do.
type Work uint

// The parts of work, in the order in which they are done. Install and Build are done side by side.
const (
	Generate Work = 1 << iota // files that follow from code
	Install                   // what follows from these and the configuration, in the cluster
	Build                     // the manager
	Restart                   // the manager, also if it is the same program
	Samples                   // apply them
	Test                      // the packages that changed
)

// First is what there is to do before the first save.
const First = Generate | Install | Build | Restart

// A Project does the work. One goroutine at a time calls each of its methods; Install and Build are called at the same
// time. A method that is given up returns soon after ctx has ended, with its error; what it has done by then may be
// done again.
type Project interface {
	// Work returns what files that changed make necessary.
	Work(files []string) Work
	// Generate brings files up to date. It returns what follows from those that changed, and a text about them.
	Generate(ctx context.Context) (Work, string, error)
	// Install brings the cluster up to date.
	Install(ctx context.Context) (string, error)
	// Build compiles the manager, and reports whether it is another program than before.
	Build(ctx context.Context) (changed bool, err error)
	// Restart ends the manager that runs, if any, and starts the one that was built last. It is not given up halfway.
	Restart(ctx context.Context) (string, error)
	// Serve has the cluster call the manager that runs as the project says now. It is called after an installation that
	// no restart follows.
	Serve(ctx context.Context) error
	// Fail learns why the manager is not up to date, or "" when it is again.
	Fail(why string)
	// Samples applies the samples.
	Samples(ctx context.Context) (string, error)
	// Test runs the tests of the packages that changed since the last tests that passed.
	Test(ctx context.Context) (string, error)
}

// A Request is work that the user asks for by a key.
type Request struct {
	Work Work
	Do   func(ctx context.Context) error // in place of work, at once, also while a cycle runs; may be nil
}

// Options are what a loop needs.
type Options struct {
	Project  Project
	First    Work            // in place of the constant, unless zero
	Always   Work            // is done after each save that changes code, such as Test
	Saves    <-chan []string // files that changed
	Requests <-chan Request
	Handler  report.Handler
}

// loop is a run of the loop. One goroutine has it.
type loop struct {
	Options
	save   int  // the number of the last one
	todo   Work // not begun
	failed Work // to be tried again with the next save

	cancel   context.CancelFunc // of the cycle that runs; nil: none does
	finished chan outcome
}

// outcome is how a cycle ended.
type outcome struct {
	undone, failed Work
}

// Run runs the loop until ctx ends, and waits for all it has begun.
func Run(ctx context.Context, o Options) error {
	l := &loop{Options: o, todo: o.First, finished: make(chan outcome)}
	if l.todo == 0 {
		l.todo = First
	}
	for {
		if l.todo != 0 && l.cancel == nil && ctx.Err() == nil {
			l.begin(ctx)
		}
		select {
		case <-ctx.Done():
			l.end()
			return nil
		case files := <-l.Saves:
			l.saved(files)
		case r := <-l.Requests:
			l.asked(ctx, r)
		case done := <-l.finished:
			l.cancel()
			l.cancel = nil
			l.todo |= done.undone
			l.failed |= done.failed
		}
	}
}

// saved notes what a save makes necessary, and gives up the cycle that it makes obsolete.
func (l *loop) saved(files []string) {
	work := l.Project.Work(files)
	if work == 0 {
		return
	}
	l.save++
	if work&Build != 0 {
		work |= l.Always
	}
	l.add(work | l.failed)
	l.failed = 0
}

// asked notes what the user asks for.
func (l *loop) asked(ctx context.Context, r Request) {
	if r.Do == nil && r.Work == 0 {
		return
	}
	if r.Do == nil {
		l.add(r.Work | l.failed)
		l.failed = 0
		return
	}
	if err := r.Do(ctx); err != nil && ctx.Err() == nil {
		l.Handler.Handle(report.Warning{Text: err.Error()})
	}
}

func (l *loop) add(work Work) {
	l.todo |= work
	if l.cancel != nil {
		l.cancel()
	}
}

// begin begins a cycle.
func (l *loop) begin(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(ctx)
	c := cycle{Options: l.Options, save: l.save, todo: l.todo}
	l.todo = 0
	go func() { l.finished <- c.run(ctx) }()
}

// end gives up the cycle that runs and waits for its end.
func (l *loop) end() {
	if l.cancel != nil {
		l.cancel()
		<-l.finished
	}
}

// cycle is what is done about one save.
type cycle struct {
	Options
	save int
	todo Work
}

// run does the work. What it leaves because of ctx is undone; what fails, and what needs it, has failed.
func (c *cycle) run(ctx context.Context) outcome {
	err := c.all(ctx)
	if ctx.Err() != nil {
		return outcome{undone: c.todo}
	}
	if err != nil {
		return outcome{failed: c.todo}
	}
	return outcome{}
}

func (c *cycle) all(ctx context.Context) error {
	if c.todo&Generate != 0 {
		err := c.part(ctx, report.GeneratePart, Generate, func() (string, error) {
			more, text, err := c.Project.Generate(ctx)
			c.todo |= more
			return text, err
		})
		if err != nil {
			return c.obsolete(err)
		}
	}
	installed := c.todo&Install != 0
	if err := c.installAndBuild(ctx); err != nil {
		return c.obsolete(err)
	}
	switch {
	case c.todo&Restart != 0:
		if err := c.part(ctx, report.ManagerPart, Restart, func() (string, error) { return c.Project.Restart(ctx) }); err != nil {
			return c.obsolete(err)
		}
	case installed:
		if err := c.Project.Serve(ctx); err != nil {
			c.todo |= Restart // which does it, too
			return c.obsolete(err)
		}
	}
	c.Project.Fail("")
	var samples, tests error
	if c.todo&Samples != 0 {
		samples = c.part(ctx, report.InstallPart, Samples, func() (string, error) { return c.Project.Samples(ctx) })
	}
	if c.todo&Test != 0 {
		tests = c.part(ctx, report.TestsPart, Test, func() (string, error) { return c.Project.Test(ctx) })
	}
	return errors.Join(samples, tests)
}

// obsolete has the project say why the manager that runs, if any, is not up to date.
func (c *cycle) obsolete(err error) error {
	c.Project.Fail(reason(err))
	return err
}

// headStart is how long a build waits for an installation, which would take a multiple of its time beside compilers.
const headStart = 300 * time.Millisecond

// installAndBuild does both side by side: they need nothing of each other.
func (c *cycle) installAndBuild(ctx context.Context) error {
	todo := c.todo
	var both errgroup.Group
	var installed, built, changed bool
	first := make(chan struct{}) // closed when nothing is installed any more
	if todo&Install == 0 {
		close(first)
	} else {
		both.Go(func() error {
			defer close(first)
			err := c.show(ctx, report.InstallPart, func() (string, error) { return c.Project.Install(ctx) })
			installed = err == nil
			return err
		})
	}
	if todo&Build != 0 {
		both.Go(func() error {
			select {
			case <-first:
			case <-time.After(headStart):
			case <-ctx.Done():
			}
			err := c.show(ctx, report.BuildPart, func() (_ string, err error) {
				changed, err = c.Project.Build(ctx)
				return "", err
			})
			built = err == nil
			return err
		})
	}
	err := both.Wait()
	if installed {
		c.todo &^= Install
	}
	if built {
		c.todo &^= Build
	}
	if changed {
		c.todo |= Restart
	}
	return err
}

// part does a part of the work, which is done then.
func (c *cycle) part(ctx context.Context, name report.PartName, work Work, do func() (string, error)) error {
	err := c.show(ctx, name, do)
	if err == nil {
		c.todo &^= work
	}
	return err
}

// show reports how a part of the work begins and ends; one that is given up ends without a word.
func (c *cycle) show(ctx context.Context, name report.PartName, do func() (string, error)) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.Handler.Handle(report.Part{Name: name, State: report.Working, Save: c.save})
	begin := time.Now()
	text, err := do()
	p := report.Part{Name: name, State: report.Ready, Save: c.save, Elapsed: time.Since(begin), Text: text}
	switch {
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case err != nil:
		p.State, p.Text = report.Failed, report.Advised(err)
	}
	c.Handler.Handle(p)
	return err
}

// reason is why a part of the work failed, in one sentence.
func reason(err error) string {
	e, ok := errors.AsType[*report.Error](err)
	switch {
	case !ok:
		return err.Error()
	case e.Err != nil:
		return fmt.Sprintf("%s: %s", e.What, e.Err)
	}
	return e.What
}
