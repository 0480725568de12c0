// Package goinstall makes the programs of a release, as `go install …@version` makes them on a user's machine.
//
//	c := goinstall.Compiler{Commit: t, Version: "v0.1.0", Stamp: stamp, Proxy: proxy, Modules: dir}
//	err := c.Unit(ctx, unit, "linux", "arm64", out) // out/slipway-check
//
// The command line and the environment are package program's. The version comes from a folder that serves as a proxy of
// modules, and everything else from the user's module cache, which the go command has filled from the commit's go.sum.
// Programs are looked at before they are handed out: version, platform, and the checksum of each module in them.
package goinstall

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/program"
	names "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/release/internal/commit"
	"github.com/slipway-dev/slipway/release/internal/modproxy"
)

// Compiler compiles programs of a release.
type Compiler struct {
	Commit  commit.Commit
	Version string
	Stamp   names.Stamp // for slipway itself
	Proxy   modproxy.Proxy
	Modules string // folder for the modules of the release, which are not for the user's cache
}

// Units are what one run of the go command makes for a system, slipway itself first.
func Units(goos string) []program.ReleaseUnit {
	own := program.ReleaseUnit{Module: names.Module, Programs: []string{slipway}, Packages: []string{names.Module + "/cmd/" + slipway}}
	return append([]program.ReleaseUnit{own}, program.ReleaseUnits(goos)...)
}

const slipway = "slipway"

// Arguments are those of the go command that makes a unit.
func (c Compiler) Arguments(u program.ReleaseUnit) []string {
	var stamp []string
	if slices.Contains(u.Programs, slipway) {
		stamp = c.Stamp.LinkerFlags()
	}
	return program.Install(c.Version, stamp, u.Packages...)
}

// Unit compiles a unit for a platform and puts its programs into the folder out.
func (c Compiler) Unit(ctx context.Context, u program.ReleaseUnit, goos, goarch, out string) error {
	env, err := program.InstallEnvironment(ctx, goos, goarch)
	if err != nil {
		return err
	}
	if err := c.fetch(ctx, u, env); err != nil {
		return err
	}
	path := filepath.Join(out, "gopath") // GOBIN is for this machine's programs alone
	if err := c.run(ctx, out, append(env, c.closed(env, path)...), c.Arguments(u)); err != nil {
		return err
	}
	bin := filepath.Join(path, "bin")
	if goos != runtime.GOOS || goarch != runtime.GOARCH {
		bin = filepath.Join(bin, goos+"_"+goarch)
	}
	for _, p := range u.Programs {
		file := names.File(p, goos)
		if err := c.check(filepath.Join(bin, file), u, goos, goarch); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(bin, file), filepath.Join(out, file)); err != nil {
			return err
		}
	}
	return nil
}

// Goroot is the folder of the Go that compiles.
func Goroot(ctx context.Context) (string, error) {
	env, err := gocommand.Read(ctx)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = gocommand.Command{Dir: string(filepath.Separator), Env: env.With(), Args: []string{"env", "GOROOT"}, Stdout: &out}.Run(ctx)
	return strings.TrimSpace(out.String()), err
}

// fetch has the go command get the modules that the unit needs into the user's cache, and compare them with the go.sum
// of the commit.
func (c Compiler) fetch(ctx context.Context, u program.ReleaseUnit, env []string) error {
	args := []string{"list", "-deps", "-mod=readonly", "-f={{if .Error}}{{.Error}}{{end}}"}
	for _, p := range u.Packages {
		args = append(args, "."+strings.TrimPrefix(p, u.Module))
	}
	return c.run(ctx, filepath.Join(c.Commit.Dir, folder(u.Module)), env, args)
}

// folder is that of a module in the tree.
func folder(module string) string {
	return strings.TrimPrefix(strings.TrimPrefix(module, names.Module), "/")
}

// closed are variables by which the go command knows two proxies and no network: ours, and the user's cache.
func (c Compiler) closed(env []string, path string) []string {
	return []string{"GOPATH=" + path, "GOBIN=", "GOMODCACHE=" + c.Modules, "GOFLAGS=-modcacherw", "GOVCS=*:off",
		"GOPROXY=" + c.Proxy.URL() + "," + modproxy.FileURL(filepath.Join(variable(env, "GOMODCACHE"), "cache", "download")),
		"GOSUMDB=off", "GOPRIVATE=", "GONOPROXY=", "GONOSUMDB="}
}

// variable is the value of a variable of an environment, in which the last one of a name counts.
func variable(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// errFailed is that the go command failed.
var errFailed = errors.New("the go command failed")

// run runs the go command.
func (c Compiler) run(ctx context.Context, dir string, env, args []string) error {
	var said bytes.Buffer
	err := gocommand.Command{Dir: dir, Env: env, Args: args, Stdout: &said, Stderr: &said}.Run(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &report.Error{What: "a program of the release cannot be compiled", Where: dir, Err: errors.Join(errFailed, err), Hint: last(said.String()),
		Next: "go " + strings.Join(args, " ")}
}

// last are the last lines of a text.
func last(text string) string {
	const most = 12
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
