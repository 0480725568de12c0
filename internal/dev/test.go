package dev

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// Variables of controller-runtime's envtest, and the one with which the embedded kube-apiserver brings controllers.
const (
	assetsVariable      = "KUBEBUILDER_ASSETS"   // folder of etcd and kube-apiserver
	existingVariable    = "USE_EXISTING_CLUSTER" // true: no control plane is started
	kubeconfigVariable  = "KUBECONFIG"           // of the existing cluster
	controllersVariable = "SLIPWAY_CONTROLLERS"  // those that run; 1: all

	podsVariable = "SLIPWAY_SIMULATED_PODS" // what becomes of simulated pods
	jobsVariable = "SLIPWAY_SIMULATED_JOBS" // and of those of Jobs

	definitionsVariable = "SLIPWAY_DEFINITIONS" // file with the definitions that each control plane begins with

	patienceVariable = "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT" // how long envtest waits for a program to be ready
	patience         = "3m"                                     // a program that ends is noticed at once: only a busy machine takes long
)

// Variables of clustertest.
const (
	programVariable = "SLIPWAY_CLUSTER"        // program of which suites start clusters
	sharedVariable  = "SLIPWAY_SHARED_CLUSTER" // socket of a running one in which they do
)

// ControlPlane is where suites get theirs from. Its functions may take minutes the first time, and say so through a
// handler of their own.
type ControlPlane struct {
	// Assets returns a folder for KUBEBUILDER_ASSETS.
	Assets func(context.Context) (string, error)
	// Program returns a path for SLIPWAY_CLUSTER.
	Program func(context.Context) (string, error)
	// Share starts a cluster with the controllers that suites ask for, which end ends.
	Share func(ctx context.Context, s Suites) (c Shared, end func() error, err error)
}

// Shared is a cluster that all suites use.
type Shared struct {
	Kubeconfig string // path
	Socket     string // of its program
}

// Suites says how tests run.
type Suites struct {
	Args            []string // of go test
	Controllers     bool     // with controllers, a scheduler and a node
	ControllerNames []string // which controllers; empty: all
	SimulatedPods   string   // what becomes of simulated pods whose annotations do not say it; empty: the usual
	SimulatedJobs   string   // the same for the pods of Jobs
	Shared          bool     // one cluster for all packages, instead of a control plane each
	AsData          bool     // report results as events instead of printing go test's text
	Definitions     string   // file with the definitions that each control plane begins with; empty: none
}

// Test runs `go test` in o.Dir with the suites' arguments, untouched; where they name no
// package, all below o.Dir are meant. Suites find the control plane there, unless
// the environment names one already. Generated files of the project in root are
// brought up to date first; an empty root means that there is no project. Go's test cache gets to know of what suites
// read and it does not see. A failing test is a [report.Error] with the exit code of go test.
func Test(ctx context.Context, o Options, root string, s Suites, c ControlPlane) (err error) {
	if root != "" {
		if err := o.generate(ctx, root); err != nil {
			return err
		}
	}
	env, end, err := s.environment(ctx, o.Env, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	o.Env = o.withInputs(env, s.Args)
	stop := signsOfLife(ctx, o.Handler, "go test compiles the suites, then runs them")
	defer stop()
	command := o.goCommand(append([]string{"test"}, withPackages(s.Args)...)...)
	if s.AsData {
		events := newTestEvents(o.Handler)
		defer events.end()
		command.Args, command.Stdout = slices.Insert(command.Args, 1, "-json"), events
	}
	err = command.Run(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return ended("go test failed", err)
}

// environment adds to env what leads suites to their control plane.
func (s Suites) environment(ctx context.Context, env []string, c ControlPlane) (_ []string, end func() error, err error) {
	nothing := func() error { return nil }
	env = slices.Clone(env)
	if theirs := chosen(env); theirs != "" {
		return env, nothing, s.leave(theirs)
	}
	if s.Definitions != "" {
		env = append(env, definitionsVariable+"="+s.Definitions)
	}
	if s.Shared {
		shared, end, err := c.Share(ctx, s)
		return append(env, existingVariable+"=true", kubeconfigVariable+"="+shared.Kubeconfig, sharedVariable+"="+shared.Socket), end, err
	}
	if s.Controllers {
		env = append(env, controllersVariable+"="+cmp.Or(strings.Join(s.ControllerNames, ","), "1"))
	}
	if s.SimulatedPods != "" {
		env = append(env, podsVariable+"="+s.SimulatedPods)
	}
	if s.SimulatedJobs != "" {
		env = append(env, jobsVariable+"="+s.SimulatedJobs)
	}
	dir, err := c.Assets(ctx)
	if err != nil {
		return nil, nil, err
	}
	if lookup(env, patienceVariable) == "" {
		env = append(env, patienceVariable+"="+patience)
	}
	program, err := c.Program(ctx)
	return append(env, assetsVariable+"="+dir, programVariable+"="+program), nothing, err
}

// chosen is the variable with which the user has chosen a control plane, if any.
func chosen(env []string) string {
	switch {
	case lookup(env, assetsVariable) != "":
		return assetsVariable
	case strings.EqualFold(lookup(env, existingVariable), "true"):
		return existingVariable
	}
	return ""
}

// leave is the error of options that need another control plane than the one that the user has chosen.
func (s Suites) leave(variable string) error {
	flag := ""
	switch {
	case s.Shared:
		flag = "--shared"
	case s.Controllers:
		flag = "--controllers"
	case s.Definitions != "":
		flag = "--dependencies"
	default:
		return nil
	}
	return &report.Error{What: flag + " is for the embedded control plane, but the environment names another one", Where: variable,
		Hint: "leave out the flag, or unset " + variable, Code: report.UsageCode}
}

// withPackages adds ./... to arguments of go test that name no package. What
// follows -args belongs to the test binary.
func withPackages(args []string) []string {
	if NamesPackage(args) {
		return args
	}
	return slices.Insert(slices.Clone(args), ownArgs(args), "./...")
}

// ownArgs is how many of the arguments are not for the test binary.
func ownArgs(args []string) int {
	if end := slices.IndexFunc(args, func(a string) bool { return a == "-args" || a == "--args" }); end >= 0 {
		return end
	}
	return len(args)
}

// NamesPackage reports whether arguments of go test name a package.
func NamesPackage(args []string) bool { return namesPackage(args[:ownArgs(args)]) }

// namesPackage reports whether an argument is neither a flag nor the value of one.
func namesPackage(args []string) bool { return len(readArgs(args).packages) > 0 }

// testArgs are arguments of go test: the packages that they name, and the last value of each flag.
type testArgs struct {
	packages []string
	flags    map[string]string
}

func readArgs(args []string) testArgs {
	read := testArgs{flags: map[string]string{}}
	for i := 0; i < len(args); i++ {
		flag, isFlag := strings.CutPrefix(args[i], "-")
		if !isFlag {
			read.packages = append(read.packages, args[i])
			continue
		}
		flag, value, joined := strings.Cut(strings.TrimPrefix(flag, "-"), "=")
		if !joined && !slices.Contains(switches, flag) && i+1 < len(args) {
			i++
			value = args[i]
		}
		read.flags[flag] = value
	}
	return read
}

// switches are the flags of go test that take no value: `go help build`,
// `go help testflag`.
var switches = []string{
	"a", "n", "race", "msan", "asan", "cover", "v", "work", "x", "linkshared", "modcacherw", "trimpath", "buildvcs",
	"c", "json", "artifacts", "benchmem", "failfast", "fullpath", "short",
}
