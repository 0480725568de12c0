// Package image builds container images of operators without a container engine, and moves them to where they are run.
//
//	images := image.New(os.Getenv, handler)
//	built, err := images.Build(ctx, wire.Build{Tag: "registry.example.com/op:v1", Dir: dir, Platforms: []string{"linux/amd64"}})
//	pushed, err := images.Push(ctx, wire.Push{Ref: "registry.example.com/op:v1"})
//
// An image has the manager, a static program, and what such a program needs: certificates, users, time zones. How it
// is compiled and started, the project's Dockerfile says. The same sources make the same image, to the byte, on
// every machine: times are those of the commit, and nothing is taken from the machine but Go. A bill of materials
// goes with each.
//
// Built and pulled images are kept in the user's cache (SLIPWAY_CACHE, or slipway in the cache folder), under their
// names, until they are removed or built again.
//
// The libraries that images and registries take would add half a millisecond to every start of slipway. So they are in
// a program of their own, slipway-image, that is built the first time that it is needed; this package asks it, in the
// form of package wire. Package serve is the other end. Below it each package has one reason to change:
//
//	reference    names of images
//	dockerfile   how a Dockerfile has the manager built and started
//	manager      compiling it
//	rootfs       the files that it needs in the image
//	pack         layers, images, indexes
//	layers       which were made before
//	sbom         bills of materials
//	store        where images are kept
//	transfer     registries and archives
package image

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/cachefolder"
	"github.com/slipway-dev/slipway/internal/image/wire"
	programs "github.com/slipway-dev/slipway/internal/program"
	"github.com/slipway-dev/slipway/internal/report"
)

// name is what the program is called in messages.
const name = "slipway-image"

// Images finds the program, see package program, and has it work.
type Images struct {
	programs *programs.Finder
	handler  report.Handler
}

// New returns the images of the user. Getenv is asked for SLIPWAY_IMAGE, the program, and SLIPWAY_CACHE; handler learns
// what is done.
func New(getenv func(string) string, handler report.Handler) *Images {
	return &Images{programs.NewFinder(getenv, handler), handler}
}

// Program returns the path of the program, which is built if need be.
func (i *Images) Program(ctx context.Context) (string, error) { return i.programs.EnsureImage(ctx) }

// Build builds an image of a project's manager and keeps it under its name.
func (i *Images) Build(ctx context.Context, b wire.Build) (wire.Image, error) {
	return ask[wire.Image](ctx, i, wire.Request{Build: &b})
}

// Pull gets an image from the registry in its name, or from that registry's mirror, and keeps it under its name.
func (i *Images) Pull(ctx context.Context, p wire.Pull) (wire.Image, error) {
	return ask[wire.Image](ctx, i, wire.Request{Pull: &p})
}

// Push pushes an image to the registry in its name.
func (i *Images) Push(ctx context.Context, p wire.Push) (wire.Pushed, error) {
	return ask[wire.Pushed](ctx, i, wire.Request{Push: &p})
}

// Save writes an image into an archive.
func (i *Images) Save(ctx context.Context, s wire.Save) (wire.Saved, error) {
	return ask[wire.Saved](ctx, i, wire.Request{Save: &s})
}

// Load puts an image, or those of an archive, into a cluster's registry.
func (i *Images) Load(ctx context.Context, l wire.Load) (wire.Loaded, error) {
	return ask[wire.Loaded](ctx, i, wire.Request{Load: &l})
}

// Inspect reports what an image is.
func (i *Images) Inspect(ctx context.Context, in wire.Inspect) (wire.Image, error) {
	return ask[wire.Image](ctx, i, wire.Request{Inspect: &in})
}

// List lists the images that are kept.
func (i *Images) List(ctx context.Context) ([]wire.Listed, error) {
	return ask[[]wire.Listed](ctx, i, wire.Request{List: &wire.List{}})
}

// Remove removes images and returns the names of those that were there.
func (i *Images) Remove(ctx context.Context, refs ...string) ([]string, error) {
	return ask[[]string](ctx, i, wire.Request{Remove: &wire.Remove{Refs: refs}})
}

// Login proves an account of a registry and keeps it where docker does.
func (i *Images) Login(ctx context.Context, l wire.Login) (wire.LoggedIn, error) {
	return ask[wire.LoggedIn](ctx, i, wire.Request{Login: &l})
}

// Logout forgets the account of a registry.
func (i *Images) Logout(ctx context.Context, l wire.Logout) (wire.LoggedOut, error) {
	return ask[wire.LoggedOut](ctx, i, wire.Request{Logout: &l})
}

// patience is how long the program gets to end what it does once it is interrupted.
const patience = 5 * time.Second

// ask has the program answer a request.
func ask[Result any](ctx context.Context, i *Images, request wire.Request) (Result, error) {
	var result Result
	program, err := i.Program(ctx)
	if err != nil {
		return result, err
	}
	cache, err := cachefolder.Root(i.programs.Getenv)
	if err != nil {
		return result, err
	}
	request.Protocol, request.Store = wire.Protocol, filepath.Join(cache, "images")
	input, err := json.Marshal(request)
	if err != nil {
		return result, err
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return result, err
	}
	if err := cmd.Start(); err != nil {
		return result, &report.Error{What: name + " cannot be started", Where: program, Err: err}
	}
	last, err := i.follow(stdout)
	ended := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return result, ctx.Err()
	case err != nil:
		return result, &report.Error{What: "this is not the " + name + " of this slipway", Where: program, Err: err,
			Hint: "unset SLIPWAY_IMAGE to let slipway build its own program"}
	case last.Failure != nil:
		return result, last.Failure.Error()
	case last.Result == nil:
		return result, &report.Error{What: name + " failed", Where: program, Err: ended, Hint: programs.LastWords(stderr.String(), "SLIPWAY_IMAGE")}
	}
	return result, json.Unmarshal(last.Result, &result)
}

var errProtocol = errors.New("it uses another protocol")

// follow tells the program's events and returns the last one.
func (i *Images) follow(stdout io.Reader) (wire.Event, error) {
	lines := json.NewDecoder(stdout)
	var first, last wire.Event
	err := lines.Decode(&first)
	if err == nil && first.Protocol != wire.Protocol {
		err = fmt.Errorf("%w: %d, and not %d", errProtocol, first.Protocol, wire.Protocol)
	}
	for err == nil {
		var e wire.Event
		if err = lines.Decode(&e); err == nil {
			i.tell(e)
			last = e
		}
	}
	if errors.Is(err, io.EOF) {
		return last, nil
	}
	_, _ = io.Copy(io.Discard, stdout) // so that it can end
	return last, err
}

func (i *Images) tell(e wire.Event) {
	switch {
	case e.Step != nil:
		i.handler.Handle(*e.Step)
	case e.Progress != nil:
		i.handler.Handle(*e.Progress)
	case e.Note != nil:
		i.handler.Handle(*e.Note)
	case e.Warning != nil:
		i.handler.Handle(*e.Warning)
	}
}
