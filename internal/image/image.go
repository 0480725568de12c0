// Package image builds container images of operators without a container engine, and moves them to where they are run.
//
//	images := image.New(os.Getenv, handler)
//	built, err := images.Build(ctx, image.Build{Tag: "registry.example.com/op:v1", Dir: dir, Platforms: []string{"linux/amd64"}})
//	pushed, err := images.Push(ctx, image.Push{Ref: "registry.example.com/op:v1"})
//
// An image has the manager, a static program, and what such a program needs: certificates, users, time zones. How it
// is compiled and started, the project's Dockerfile says. The same sources make the same image, to the byte, on
// every machine: times are those of the commit, and nothing is taken from the machine but Go. A bill of materials
// goes with each.
//
// Built and pulled images are kept in the user's cache (SLIPWAY_CACHE, or slipway in the cache folder), under their
// names, until they are removed or built again.
//
// This package is the door to those below it, each of which has one reason to change:
//
//	reference    names of images
//	dockerfile   how a Dockerfile has the manager built and started
//	compile      compiling it
//	rootfs       the files that it needs in the image
//	pack         layers, images, indexes
//	layers       which were made before
//	sbom         bills of materials
//	store        where images are kept
//	transfer     registries and archives
package image

import (
	"context"

	"github.com/slipway-dev/slipway/internal/report"
)

// Images are those of a user. What the user can mend, their methods report as a [report.Error]. Once the context is
// done, they fail with its error.
type Images struct {
	getenv  func(string) string
	handler report.Handler
}

// New returns the images of the user. Getenv is asked for SLIPWAY_CACHE, where images are kept, and for SLIPWAY_MIRROR;
// handler learns what is done.
func New(getenv func(string) string, handler report.Handler) *Images { return &Images{getenv, handler} }

// Build builds an image of a project's manager and keeps it under its name.
func (i *Images) Build(ctx context.Context, b Build) (Image, error) {
	return changing(ctx, i, func(w *worker) (Image, error) { return w.build(ctx, b) })
}

// Pull gets an image from the registry in its name, or from that registry's mirror, and keeps it under its name.
func (i *Images) Pull(ctx context.Context, p Pull) (Image, error) {
	return changing(ctx, i, func(w *worker) (Image, error) { return w.pull(ctx, p) })
}

// Remove removes images and returns the names of those that were there.
func (i *Images) Remove(ctx context.Context, refs ...string) ([]string, error) {
	return changing(ctx, i, func(w *worker) ([]string, error) { return w.remove(ctx, refs) })
}

// Push pushes an image to the registry in its name.
func (i *Images) Push(ctx context.Context, p Push) (Pushed, error) {
	return reading(ctx, i, func(w *worker) (Pushed, error) { return w.push(ctx, p) })
}

// Save writes an image into an archive.
func (i *Images) Save(ctx context.Context, s Save) (Saved, error) {
	return reading(ctx, i, func(w *worker) (Saved, error) { return w.save(ctx, s) })
}

// Load puts an image, or those of an archive, into a cluster's registry.
func (i *Images) Load(ctx context.Context, l Load) (Loaded, error) {
	return reading(ctx, i, func(w *worker) (Loaded, error) { return w.load(ctx, l) })
}

// Inspect reports what an image is.
func (i *Images) Inspect(ctx context.Context, in Inspect) (Image, error) {
	return reading(ctx, i, func(w *worker) (Image, error) { return w.inspect(in) })
}

// List lists the images that are kept.
func (i *Images) List(ctx context.Context) ([]Listed, error) {
	return reading(ctx, i, (*worker).list)
}
