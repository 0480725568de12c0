package image

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/image/compile"
	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/image/transfer"
	"github.com/slipway-dev/slipway/internal/report"
)

// pull keeps an image of a registry under its name. Others may change the store while its layers come.
func (w *worker) pull(ctx context.Context, r Pull) (Image, error) {
	ref, err := reference.Parse(r.Ref)
	if err != nil {
		return Image{}, err
	}
	img, err := w.ask(ctx, ref, r)
	if err != nil {
		return Image{}, err
	}
	before, _ := w.store.Get(ref) // that there is none, or a damaged one, is no obstacle
	if err := w.fetch(ctx, ref, img); err != nil {
		return Image{}, err
	}
	entry, err := w.store.Get(ref)
	if err != nil {
		return Image{}, err
	}
	described, err := describe(entry, false)
	described.Unchanged = before.Descriptor.Digest == entry.Descriptor.Digest
	return described, err
}

// ask asks the registry of an image, or its mirror, what the image consists of.
func (w *worker) ask(ctx context.Context, ref name.Reference, r Pull) (store.Image, error) {
	mirrors, err := w.mirrors(r.Mirrors)
	if err != nil {
		return store.Image{}, err
	}
	registries := transfer.Registries{Mirrors: mirrors}
	if digest, ok := ref.(name.Digest); ok {
		if r.Platform != "" {
			return store.Image{}, &report.Error{What: "--platform has no effect on a name with a digest", Where: r.Ref, Hint: "leave out --platform, or name a tag", Code: report.UsageCode}
		}
		return registries.PullDigest(ctx, digest)
	}
	p := compile.Platform{OS: "linux", Arch: runtime.GOARCH}
	if r.Platform != "" {
		if p, err = compile.ParsePlatform(r.Platform); err != nil {
			return store.Image{}, err
		}
	}
	img, err := registries.Pull(ctx, ref, platform(p))
	return store.Image{Image: img}, err
}

// fetch fetches the layers of an image and gives it its name. When that fails nothing of the image stays.
func (w *worker) fetch(ctx context.Context, ref name.Reference, img store.Image) error {
	err := w.fetchNamed(ctx, ref, img)
	if err == nil {
		return nil
	}
	defer ending.Await(ctx, "the deletion of pulled layers")()
	if left := w.store.Clean(context.WithoutCancel(ctx)); left != nil {
		w.warn(fmt.Sprintf("cannot delete pulled layers in %s: %v", w.store.Dir, left))
	}
	return err
}

func (w *worker) fetchNamed(ctx context.Context, ref name.Reference, img store.Image) error {
	release, err := w.store.Read(ctx)
	if err != nil {
		return err
	}
	defer release()
	begin := time.Now()
	w.begin("pulling " + familiar(ref.Name()))
	if err := w.store.Fetch(img); err != nil {
		return transfer.Explain(ctx, "pulled", ref, err)
	}
	if err := w.store.Put(ctx, ref, img); err != nil {
		return &report.Error{What: "the image cannot be stored", Where: w.store.Dir, Err: err}
	}
	w.step("pulled "+familiar(ref.Name()), begin)
	return nil
}

// mirrors are those of flags, and of the variable for the registries that no flag names.
func (w *worker) mirrors(flags []string) (reference.Mirrors, error) {
	usual, err := reference.ParseMirrors(w.getenv(reference.MirrorVariable), reference.MirrorVariable)
	if err != nil {
		return nil, err
	}
	named, err := reference.ParseMirrors(strings.Join(flags, ","), "--mirror")
	if err != nil {
		return nil, fmt.Errorf("read mirrors: %w", err)
	}
	return usual.And(named), nil
}
