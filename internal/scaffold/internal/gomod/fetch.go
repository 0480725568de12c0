package gomod

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// CheckGo refuses a missing Go installation, or one that is too old for scaffolded projects.
func CheckGo(ctx context.Context, root string) error {
	_, pinned, err := pinnedModules("go.mod", "x")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	err = gocommand.Command{Dir: root, Args: []string{"env", "GOVERSION"}, Stdout: &out}.Run(ctx)
	if gocommand.IsMissing(err) {
		return &report.Error{
			What: "the go command is not on PATH", Hint: "install Go " + pinned.Go.Version + " or newer from https://go.dev/dl",
			Next: "slipway init --skip-go-version-check …", Err: err,
		}
	}
	if err != nil {
		return fmt.Errorf("go env GOVERSION: %w", err)
	}
	version := strings.Fields(strings.TrimPrefix(strings.TrimSpace(out.String()), "go"))
	if len(version) == 0 || !semver.IsValid("v"+version[0]) || semver.Compare("v"+version[0], "v"+pinned.Go.Version) >= 0 {
		return nil // development versions of Go have no number; they are new enough
	}
	return &report.Error{
		What: "Go " + version[0] + " is too old", Hint: "projects need Go " + pinned.Go.Version + " or newer, from https://go.dev/dl",
		Next: "slipway init --skip-go-version-check …", Code: 1, // the machine's, not the project's
	}
}

// Fetch ensures that every package that the project imports is in the module cache, and reports downloads to h. If all
// are there, it needs no network.
func Fetch(ctx context.Context, root string, h report.Handler) error {
	started := time.Now()
	output, err := goCommand(ctx, root, h, "list", "-deps", "-test", "-f", "", "./...")
	if err != nil && ctx.Err() == nil {
		// The folder had code or requirements before, which only the go command can settle.
		output, err = goCommand(ctx, root, h, "mod", "tidy")
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if refused, ok := errors.AsType[*report.Error](err); ok {
		return refused
	}
	if err != nil {
		return &report.Error{
			What: "the project's modules could not be downloaded", Where: "go.mod",
			Hint: "the project is written; check the network and GOPROXY, and that the code in the folder builds\n" + lastLines(output, 5),
			Next: "go mod tidy", Err: err,
		}
	}
	h.Handle(report.Step{Name: "modules are in the cache", Elapsed: time.Since(started)})
	return nil
}

// Get adds the module of a package to the project's go.mod, unless go.mod requires it. It downloads the module and
// changes no other file than go.mod and go.sum.
func Get(ctx context.Context, root, pkg, module string, h report.Handler) error {
	name, version, _ := strings.Cut(module, "@")
	mod, err := Read(fileview.Disk(root))
	if err != nil {
		return err
	}
	if mod != nil && slices.ContainsFunc(mod.file.Require, func(r *modfile.Require) bool {
		return r.Mod.Path == name && (version == "" || r.Mod.Version == version)
	}) {
		return nil
	}
	output, err := goCommand(ctx, root, h, "get", pkg+"@"+cmp.Or(version, "latest"))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if refused, ok := errors.AsType[*report.Error](err); ok {
		return refused
	}
	if err != nil {
		return &report.Error{
			What: "the module with the types could not be downloaded", Where: "--external-api-module " + module,
			Hint: "nothing was changed; check the name, the version, and the network and GOPROXY\n" + lastLines(output, 5),
			Next: "go get " + shellword.Quote(pkg+"@"+cmp.Or(version, "latest")), Err: err, Code: 1,
		}
	}
	return nil
}

// goCommand runs the go command in the project, reports its downloads to h, and returns its other messages.
func goCommand(ctx context.Context, root string, h report.Handler, args ...string) (string, error) {
	watch := downloads{handler: h, started: time.Now()}
	if err := (gocommand.Command{Dir: root, Args: args, Stderr: &watch}).Run(ctx); err != nil {
		return watch.other.String() + string(watch.partial), fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return watch.other.String(), nil
}

// downloads counts the modules that the go command reports on standard error. The total is unknown.
type downloads struct {
	handler report.Handler
	started time.Time
	done    int
	partial []byte
	other   strings.Builder
}

func (d *downloads) Write(p []byte) (int, error) {
	d.partial = append(d.partial, p...)
	for {
		line, after, ended := bytes.Cut(d.partial, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		d.partial = after
		if !bytes.HasPrefix(line, []byte("go: downloading ")) {
			d.other.WriteString(string(line) + "\n")
			continue
		}
		d.done++
		d.handler.Handle(report.Progress{Name: "downloading modules", Done: d.done, Elapsed: time.Since(d.started)})
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
