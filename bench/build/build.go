// Package build compiles the programs that benchmarks and differential tests
// run: ours from the source around this module, the peers from the versions that
// this module's go.mod pins.
//
//	slipway, err := build.Slipway(ctx, dir)       // dir/slipway
//	peer, err := build.ControllerGen(ctx, dir)    // dir/controller-gen
//
// Programs are run, never imported, so this module shares no code with what it
// measures. Go's own build cache makes a second build cheap.
package build

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Slipway builds the slipway command into dir and returns its path.
func Slipway(ctx context.Context, dir string) (string, error) {
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	return compile(ctx, root, dir, "slipway", "./cmd/slipway")
}

// Image builds the program for images into dir and returns its path.
func Image(ctx context.Context, dir string) (string, error) {
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	return compile(ctx, root, dir, "slipway-image", "./cmd/slipway-image")
}

// ControllerGen builds controller-gen into dir and returns its path.
func ControllerGen(ctx context.Context, dir string) (string, error) {
	module, err := moduleDir(ctx)
	if err != nil {
		return "", err
	}
	return compile(ctx, module, dir, "controller-gen", "sigs.k8s.io/controller-tools/cmd/controller-gen")
}

// Oracle builds the program that answers what controller-gen's generators make of
// packages into dir and returns its path.
func Oracle(ctx context.Context, dir string) (string, error) {
	module, err := moduleDir(ctx)
	if err != nil {
		return "", err
	}
	return compile(ctx, module, dir, "oracle", "./generate/oracle/serve")
}

// SetupEnvtest builds controller-runtime's setup-envtest into dir and returns its path.
func SetupEnvtest(ctx context.Context, dir string) (string, error) {
	module, err := moduleDir(ctx)
	if err != nil {
		return "", err
	}
	return compile(ctx, module, dir, "setup-envtest", "sigs.k8s.io/controller-runtime/tools/setup-envtest")
}

// CodeGenerator builds one of k8s.io/code-generator's programs, like client-gen, into dir and returns its path. It is of
// the version that our own module requires.
func CodeGenerator(ctx context.Context, dir, name string) (string, error) {
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	return compile(ctx, root, dir, name, "k8s.io/code-generator/cmd/"+name)
}

// Root is the folder of the repository.
func Root(ctx context.Context) (string, error) {
	module, err := moduleDir(ctx)
	return filepath.Dir(module), err
}

// moduleDir is the folder of the module that the working directory is in, which
// must be this one.
func moduleDir(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the benchmarks' module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// compile builds a main package of the module in root.
func compile(ctx context.Context, root, dir, name, pkg string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	program, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "go", "build", "-C", root, "-o", program, pkg).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return program, nil
}
