// Command crosscheck type-checks what a module's programs consist of, for other systems, without compiling anything:
//
//	go run ./hack/crosscheck -dir cluster -for darwin/arm64,windows/amd64 ./cmd/slipway-cluster ./cmd/slipway-kubectl
//
// It is for the cluster's module, whose thousands of packages take ten minutes to compile for each system, and a minute
// or two to look at: bodies of functions are read in the module's own packages alone. It does not see what only the
// compiler or the linker would find, such as a missing function in assembly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir := flag.String("dir", ".", "the module's `folder`")
	platforms := flag.String("for", "", "the `systems` with their architectures, separated by commas")
	flag.Parse()
	if err := run(ctx, os.Stdout, *dir, strings.Split(*platforms, ","), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "crosscheck:", err)
		os.Exit(1)
	}
}

var (
	errSystem = errors.New("is not of the form system/architecture, such as windows/amd64")
	errNone   = errors.New("there are no packages")
	errFound  = errors.New("there are mistakes")
)

func run(ctx context.Context, out io.Writer, dir string, platforms, programs []string) error {
	var all []error
	for _, platform := range platforms {
		all = append(all, check(ctx, out, dir, platform, programs))
	}
	return errors.Join(all...)
}

// check prints the mistakes in the packages of the module that these programs consist of on a platform.
func check(ctx context.Context, out io.Writer, dir, platform string, programs []string) error {
	system, architecture, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("%q %w", platform, errSystem)
	}
	config := &packages.Config{Context: ctx, Dir: dir, Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture)}
	own, err := parts(*config, programs)
	if err != nil {
		return err
	}
	// Types of dependencies come from their sources; these are read without the bodies of functions.
	config.Mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
		packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes
	found, err := packages.Load(config, own...)
	if err != nil {
		return err
	}
	mistakes := 0
	for _, p := range found {
		for _, e := range p.Errors {
			mistakes++
			fmt.Fprintf(out, "%s: %v\n", platform, e)
		}
	}
	fmt.Fprintf(out, "%s: %d packages of %s were looked at\n", platform, len(found), dir)
	if mistakes > 0 {
		return fmt.Errorf("%s: %w", platform, errFound)
	}
	return nil
}

// parts are the paths of the module's own packages that its programs consist of.
func parts(config packages.Config, programs []string) (own []string, err error) {
	config.Mode = packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedModule
	found, err := packages.Load(&config, programs...)
	if err != nil {
		return nil, err
	}
	packages.Visit(found, func(p *packages.Package) bool {
		if p.Module == nil || !p.Module.Main {
			return false
		}
		own = append(own, p.PkgPath)
		return true
	}, nil)
	if len(own) == 0 {
		return nil, fmt.Errorf("%s: %w in %v", config.Dir, errNone, programs)
	}
	return own, nil
}
