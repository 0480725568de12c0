package dev

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
)

// Beside is how a manager is started that shares the machine with others of the same project.
type Beside struct {
	Args        []string // of the manager
	Environment []string // as key=value
}

// besides are flags of managers, of kubebuilder's scaffolds and others, with the values by which nothing is in the way of
// another manager: no ports, and no wait for a lease.
var besides = []struct{ flag, value string }{
	{"metrics-bind-address", "0"}, {"metrics-addr", "0"}, {probeFlag, "0"}, {"probe-addr", "0"}, {"leader-elect", "false"}, {"enable-leader-election", "false"},
}

// BuildBeside compiles the manager of a package to a file, which may be outside of the project, and returns how it is
// started beside others. It serves no webhooks if its code goes by ENABLE_WEBHOOKS.
func BuildBeside(ctx context.Context, o Options, pkg, file string) (b Beside, err error) {
	cmd := o.goCommand(append([]string{"build"}, o.buildArguments(file, pkg)...)...)
	cmd.Stdout = o.Stderr // the compiler's messages, as it gives them
	err = cmd.Run(ctx)
	if ctx.Err() != nil {
		return b, ctx.Err()
	}
	if err := ended("the manager does not build", err); err != nil {
		return b, err
	}
	code := o.Code()
	manager, err := managerOf(code)
	if err != nil {
		return b, err
	}
	start, err := code.Start(manager)
	if err != nil {
		return b, err
	}
	b.Environment = append(start.Environment, "ENABLE_WEBHOOKS=false")
	b.Args, err = besideArguments(code, started(start, nil), file)
	return b, err
}

// besideArguments are the arguments of a manager with those flags that its code and its program have.
func besideArguments(code *codebase.Codebase, args []string, program string) ([]string, error) {
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	first := words(args)
	sub, args := args[:first], args[first:]
	var flags []string
	for _, f := range besides {
		known, err := code.HasFlag(f.flag)
		if err != nil || !known || !strings.Contains(string(text), f.flag) {
			continue
		}
		flags = append(flags, "--"+f.flag+"="+f.value)
		if f.value == "false" {
			args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return isFlag(arg, f.flag) })
		} else {
			args = without(args, f.flag)
		}
	}
	return slices.Concat(sub, flags, args), nil
}
