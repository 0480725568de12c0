package dev

import (
	"context"
	"slices"
	"strings"
)

// Variables of controller-runtime's envtest.
const (
	assetsVariable   = "KUBEBUILDER_ASSETS"   // folder of etcd and kube-apiserver
	existingVariable = "USE_EXISTING_CLUSTER" // true: no control plane is started
)

// Assets returns a folder for KUBEBUILDER_ASSETS. It may take minutes the first
// time, and says so through its own handler.
type Assets func(context.Context) (string, error)

// Test runs `go test` in o.Dir with args, untouched; where they name no package, all
// below o.Dir are meant. Suites find the control plane that assets names, unless
// the environment names one already. Generated files of the project in root are
// brought up to date first; an empty root means that there is no project. A
// failing test is a [report.Error] with the exit code of go test.
func Test(ctx context.Context, o Options, root string, args []string, assets Assets) error {
	if root != "" {
		if err := o.generate(ctx, root); err != nil {
			return err
		}
	}
	if needsAssets(o.Env) {
		dir, err := assets(ctx)
		if err != nil {
			return err
		}
		o.Env = append(slices.Clone(o.Env), assetsVariable+"="+dir)
	}
	err := o.supervise(ctx, o.command("go", append([]string{"test"}, withPackages(args)...)...))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return ended("go test failed", err)
}

// needsAssets tells whether the user has left the choice of a control plane to us.
func needsAssets(env []string) bool {
	return lookup(env, assetsVariable) == "" && !strings.EqualFold(lookup(env, existingVariable), "true")
}

// withPackages adds ./... to arguments of go test that name no package. What
// follows -args belongs to the test binary.
func withPackages(args []string) []string {
	end := slices.IndexFunc(args, func(a string) bool { return a == "-args" || a == "--args" })
	if end < 0 {
		end = len(args)
	}
	if namesPackage(args[:end]) {
		return args
	}
	return slices.Insert(slices.Clone(args), end, "./...")
}

// namesPackage tells whether an argument is neither a flag nor the value of one.
func namesPackage(args []string) bool {
	for i := 0; i < len(args); i++ {
		flag, isFlag := strings.CutPrefix(args[i], "-")
		if !isFlag {
			return true
		}
		flag = strings.TrimPrefix(flag, "-")
		if !strings.Contains(flag, "=") && !slices.Contains(switches, flag) {
			i++ // its value
		}
	}
	return false
}

// switches are the flags of go test that take no value: `go help build`,
// `go help testflag`.
var switches = []string{
	"a", "n", "race", "msan", "asan", "cover", "v", "work", "x", "linkshared", "modcacherw", "trimpath", "buildvcs",
	"c", "json", "artifacts", "benchmem", "failfast", "fullpath", "short",
}
