package dev

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/ending"
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
// A project's webhooks work too: while the manager runs, a cluster of slipway's own asks it, see serveWebhooks. However
// the run ends, that is taken back: by itself, or by the next command that calls [TakeBack].
//
// The cluster is the manager's own choice: --kubeconfig among args, else KUBECONFIG and
// ~/.kube/config, as controller-runtime has it.
func Run(ctx context.Context, o Options, args []string) error {
	manager, err := o.manager()
	if err != nil {
		return err
	}
	start, err := o.Code().Start(manager)
	if err != nil {
		return err
	}
	args = started(start, args)
	if err := o.requireAccount(args); err != nil {
		return err
	}
	l, err := o.listens(args)
	if err != nil {
		return err
	}
	cluster, err := ship.Connect(kubeconfig(o.Env, args), o.Handler)
	if err != nil {
		return err
	}
	if err := cluster.Ping(ctx); err != nil {
		return err
	}
	if err := TakeBack(ctx, o.State, cluster, o.Handler); err != nil {
		return err
	}
	if err := o.generate(ctx, o.Dir); err != nil {
		return err
	}
	program, err := build(ctx, o, manager.Package)
	if err != nil {
		return err
	}
	if len(start.Environment) > 0 {
		o.Handler.Handle(report.Note{Text: "the manager gets the variables of " + strings.Join(start.From, " and ") + ", unless they are set here: " + strings.Join(names(start.Environment), ", ")})
	}
	return serve(ctx, o, start.Environment, cluster, program, l)
}

// serve runs a compiled manager, and has the cluster ask its webhooks meanwhile.
func serve(ctx context.Context, o Options, env []string, cluster *ship.Cluster, manager string, l listening) (err error) {
	defer withstand()()
	defer ending.Await(ctx, "the manager")()
	webhooks, err := serveWebhooks(ctx, o, cluster, l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, webhooks.giveBack()) }()
	args, err := o.flags(manager, l, len(webhooks.env) > 0)
	if err != nil {
		return err
	}
	account, end, err := o.as(ctx, cluster)
	if err != nil {
		return err
	}
	defer end()
	o.Env = slices.Concat(env, o.Env, webhooks.env, account) // the last one counts
	o.warnUnserved(ctx, cluster)
	o.Handler.Handle(report.Note{Text: "running the manager against " + cluster.Server() + " until Ctrl-C"})
	defer o.whileServing(ctx, webhooks)()
	err = ended("the manager failed", o.run(ctx, manager, args...))
	switch {
	case err != nil:
		return err
	case ctx.Err() == nil:
		return &report.Error{What: "the manager ended by itself, without an error", Where: strings.Join(append([]string{manager}, args...), " "),
			Hint: "a manager runs until it is stopped; if the program needs arguments, such as a subcommand, name them after --", Next: "slipway run -- start"}
	}
	o.Handler.Handle(report.Note{Text: "the manager has stopped"})
	return nil
}

// whileServing does what is left to do about webhooks while the manager runs. The function that it returns ends that
// and waits for its end.
func (o Options) whileServing(ctx context.Context, webhooks served) (end func()) {
	if webhooks.serving == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := webhooks.serving(ctx); err != nil && ctx.Err() == nil {
			o.Handler.Handle(report.Warning{Text: "the API server still ignores webhooks that fail: " + err.Error()})
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// build compiles the manager to bin/manager, where the Makefile's build target
// has it too, and returns its path.
func build(ctx context.Context, o Options, pkg string) (string, error) {
	manager := filepath.Join(o.Dir, "bin", "manager")
	if runtime.GOOS == "windows" {
		manager += ".exe"
	}
	if err := o.stays(manager); err != nil {
		return "", err
	}
	start := time.Now()
	o.Handler.Handle(report.Step{Name: "building the manager"})
	cmd := o.goCommand("build", "-o", manager, "./"+pkg)
	cmd.Stdout = o.Stderr // the compiler's messages, as it gives them
	err := cmd.Run(ctx)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err := ended("the manager does not build", err); err != nil {
		return "", err
	}
	o.Handler.Handle(report.Step{Name: "built the manager", Elapsed: time.Since(start)})
	return manager, nil
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
		return &report.Error{What: "the compiled manager would be outside the project", Where: file, Err: err, Hint: "nothing was compiled; replace the link by a folder",
			Next: "ls -l " + shellword.Quote(filepath.Join(out.Folder, filepath.FromSlash(out.Link)))}
	}
	return err
}

// manager is the program of the project that is its manager.
func (o Options) manager() (codebase.Manager, error) {
	return o.Code().Manager(func(pkg string) *report.Error {
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
