package dev

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/ship"
)

// Run builds the manager of the project in o.Dir and runs it, with args, until
// it ends or ctx does. A manager that stops when asked has done well; one that fails
// is a [report.Error] with its exit code. Without a reachable cluster nothing is
// built.
//
// A project's webhooks work too: while the manager runs, a cluster of slipway's own calls them. However the run ends,
// that is taken back: by itself, or by the next command that calls [TakeBack].
func Run(ctx context.Context, o Options, args []string) (err error) {
	manager, err := o.manager()
	if err != nil {
		return err
	}
	s, err := Open(ctx, o, args)
	if err != nil {
		return err
	}
	defer Withstand()()
	defer ending.Await(ctx, "the manager")()
	defer func() { err = errors.Join(err, s.Close()) }()
	s.Debug(o.Debug)
	if err := o.generate(ctx, o.Dir); err != nil {
		return err
	}
	program, err := Build(ctx, o, manager.Package)
	if err != nil {
		return err
	}
	return s.run(ctx, program)
}

// run runs a manager until it or ctx ends.
func (s *Session) run(ctx context.Context, program Program) error {
	m, err := s.Start(ctx, program)
	if err != nil {
		return err
	}
	s.options.Handler.Handle(report.Note{Text: "running the manager against " + s.cluster.Server() + " until Ctrl-C"})
	err = ended("the manager failed", m.Await(ctx, s.options.grace()))
	m.serving()
	switch {
	case err != nil:
		return err
	case ctx.Err() == nil:
		return &report.Error{What: "the manager ended by itself, without an error", Where: strings.Join(append([]string{program.Path}, m.Arguments...), " "),
			Hint: "a manager runs until it is stopped; if the program needs arguments, such as a subcommand, name them after --", Next: "slipway run -- start"}
	}
	s.options.Handler.Handle(report.Note{Text: "the manager has stopped"})
	return nil
}

// A Program is a compiled manager.
type Program struct {
	Path    string
	Changed bool // it is another one than before
	// WebhookPort is where it serves webhooks unless it has a flag for that, or its code says otherwise.
	WebhookPort string
	texts       texts // nil: not read yet
}

// Build compiles the manager of a package to bin/manager, where the Makefile's build target has it too. Until it is
// complete, the file of that name stays as it is: another manager may run from it.
func Build(ctx context.Context, o Options, pkg string) (Program, error) {
	path := filepath.Join(o.Dir, "bin", "manager")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if err := o.stays(path); err != nil {
		return Program{}, err
	}
	start := time.Now()
	o.Handler.Handle(report.Step{Name: "building the manager"})
	next := path + ".new"
	if err := prepare(path, next); err != nil {
		return Program{}, err
	}
	defer func() { _ = os.Remove(next) }() // unless it has become the manager
	moved, err := o.moved(ctx, pkg)
	if err != nil {
		return Program{}, err
	}
	defer func() { _ = moved.done() }() // what stays is swept away by a later command
	cmd := o.goCommand(slices.Concat([]string{"build"}, moved.arguments(), o.buildArguments(next, pkg))...)
	cmd.Stdout = o.Stderr // the compiler's messages, as it gives them
	err = cmd.Run(ctx)
	if ctx.Err() != nil {
		return Program{}, ctx.Err()
	}
	if err := unbuilt(err); err != nil {
		return Program{}, err
	}
	p := Program{Path: path, Changed: !same(path, next), WebhookPort: moved.port}
	if p.texts, err = readTexts(next, soughtTexts()); err == nil && p.Changed {
		err = os.Rename(next, path)
	}
	o.Handler.Handle(report.Step{Name: "built the manager", Elapsed: time.Since(start)})
	return p, err
}

// buildArguments are further ones of go build: with the flags of images, so that what one has compiled the other need
// not, and without symbols, for which the linker takes a tenth of its time. A debugger reads what they leave out.
func (o Options) buildArguments(program, pkg string) []string {
	if o.Debug {
		return []string{"-gcflags=all=-N -l", "-o", program, "./" + pkg}
	}
	return []string{"-trimpath", gocommand.NoDebugging, "-ldflags=-s -w", "-o", program, "./" + pkg}
}

// prepare gives the program a second name at which the go command may replace it. It does not if the program is up to
// date already, which it could not see without.
func prepare(path, next string) error {
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = os.Link(path, next) // without it, or on a file system that has no links, all is linked anew
	return nil
}

// same reports whether two names are of one file.
func same(path, next string) bool {
	before, err := os.Stat(path)
	if err != nil {
		return false
	}
	after, err := os.Stat(next)
	return err == nil && os.SameFile(before, after)
}

// stays refuses a file that a link of the repository leads out of the project.
func (o Options) stays(file string) error {
	folder, err := safefs.OpenFolder(o.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // nothing was written
	name, _ := folder.Below(file)
	_, err = folder.Resolve(name)
	if out, ok := errors.AsType[*safefs.OutsideError](err); ok {
		return &report.Error{Class: report.BadProject, What: "the compiled manager would be outside the project", Where: file, Err: err, Hint: "nothing was compiled; replace the link by a folder",
			Next: "ls -l " + shellword.Quote(filepath.Join(out.Folder, filepath.FromSlash(out.Link)))}
	}
	return err
}

// manager is the program of the project that is its manager.
func (o Options) manager() (codebase.Manager, error) { return managerOf(o.Code()) }

// managerOf is the program of a project that is its manager.
func managerOf(code *codebase.Codebase) (codebase.Manager, error) {
	return code.Manager(func(pkg string) *report.Error {
		return &report.Error{Hint: "--manager names the manager's", Next: "slipway run --manager " + shellword.Quote(pkg)}
	})
}

// names are those of variables.
func names(environment []string) (names []string) {
	for _, pair := range environment {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// started are the arguments of a manager: the project's and then the user's. Arguments of the user that begin with a
// subcommand are in place of the project's.
func started(m codebase.Start, args []string) []string {
	if words(args) > 0 {
		return args
	}
	return slices.Concat(m.Arguments, args)
}

// words is how many arguments there are in front of the first flag.
func words(args []string) int {
	if at := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }); at >= 0 {
		return at
	}
	return len(args)
}

// kubeconfig is what the manager will connect to.
func kubeconfig(env, args []string) ship.Kubeconfig {
	return ship.Kubeconfig{Path: flagValue(args, "kubeconfig"), List: lookup(env, "KUBECONFIG")}
}

// lookup returns the value of a variable in env, where the last one counts.
func lookup(env []string, name string) string {
	value := ""
	for _, pair := range env {
		if k, v, ok := strings.Cut(pair, "="); ok && k == name {
			value = v
		}
	}
	return value
}
