// Package build compiles the programs that benchmarks and differential tests
// run: ours from the source around this module, the peers from the versions that
// go.mod files here pin.
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
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Slipway builds the slipway command into dir and returns its path. Like that of the Makefile it compiles the programs
// of this checkout.
func Slipway(ctx context.Context, dir string) (string, error) {
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	return Compile(ctx, root, dir, "slipway", "./cmd/slipway", "-ldflags=-X 'github.com/slipway-dev/slipway/internal/program.checkout="+root+"'")
}

// ControllerGen builds controller-gen into dir and returns its path.
func ControllerGen(ctx context.Context, dir string) (string, error) {
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	return Compile(ctx, filepath.Join(root, "bench"), dir, "controller-gen", "sigs.k8s.io/controller-tools/cmd/controller-gen")
}

// CodeGenerator builds one of k8s.io/code-generator's programs, like client-gen, into dir and returns its path. It is
// of the version that our own module requires.
func CodeGenerator(ctx context.Context, dir, name string) (string, error) {
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	return Compile(ctx, root, dir, name, "k8s.io/code-generator/cmd/"+name)
}

// ClientGo is the version of k8s.io/client-go that our own module requires, and so that of [CodeGenerator]'s programs.
func ClientGo(ctx context.Context) (string, error) {
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/client-go")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", list, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Root is the folder of the repository, in one of whose modules the working directory is.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	file := strings.TrimSpace(string(out))
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module github.com/slipway-dev/slipway\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the repository: %q is in no copy of it", file)
		}
	}
}

// Compile builds a main package of the module in root into dir and returns the program's path. Flags are those of go
// build.
func Compile(ctx context.Context, root, dir, name, pkg string, flags ...string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	program, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-C", root, "-o", program}, flags, []string{pkg})...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as programs are built that are handed on
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return program, nil
}
