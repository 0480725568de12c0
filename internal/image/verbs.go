package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/image/transfer"
	"github.com/slipway-dev/slipway/internal/report"
)

func (w *worker) push(ctx context.Context, r Push) (Pushed, error) {
	if r.File != "" {
		return w.pushArchived(ctx, r)
	}
	e, tag, err := w.tagged(r.Ref, "; `slipway image push "+r.Ref+" --archive FILE` pushes that of an archive")
	if err != nil {
		return Pushed{}, err
	}
	return w.pushAs(ctx, tag, tag, e.Image, r.Account)
}

// pushArchived pushes an image of an archive, which is not kept.
func (w *worker) pushArchived(ctx context.Context, r Push) (Pushed, error) {
	tag, err := reference.ParseTag(r.Ref)
	if err != nil {
		return Pushed{}, err
	}
	temp, done, err := w.store.Temp()
	if err != nil {
		return Pushed{}, err
	}
	defer done()
	all, err := transfer.Open(ctx, r.File, temp)
	if err != nil {
		return Pushed{}, err
	}
	meant, err := archived(r, tag, all)
	if err != nil {
		return Pushed{}, err
	}
	return w.pushAs(ctx, tag, tag, meant.Image, r.Account)
}

// archived is the image of an archive that is meant: the only one, whatever its name, or else that of the name.
func archived(r Push, tag name.Tag, all []transfer.Archived) (transfer.Archived, error) {
	if len(all) == 1 {
		return all[0], nil
	}
	var has []string
	for _, a := range all {
		if a.Name.Name() == tag.Name() {
			return a, nil
		}
		has = append(has, familiar(a.Name.Name()))
	}
	return transfer.Archived{}, &report.Error{What: "the archive has several images, and none of that name", Where: r.Ref + " in " + r.File,
		Hint: "its images are " + strings.Join(has, ", "), Next: "slipway image push " + has[0] + " --archive " + r.File}
}

// tagged returns an image of the store by a name with a tag, and that name.
func (w *worker) tagged(text, also string) (store.Entry, name.Tag, error) {
	e, err := w.find(text, also)
	if err != nil {
		return e, name.Tag{}, err
	}
	tag, err := reference.ParseTag(text)
	return e, tag, err
}

// pushAs pushes an image to a place that may have another name than the image.
func (w *worker) pushAs(ctx context.Context, image, to name.Reference, img store.Image, account *Account) (Pushed, error) {
	registries := w.registries("pushing " + image.String())
	registries.Account = (*transfer.Account)(account)
	digest, err := registries.Push(ctx, to, img)
	if err != nil {
		return Pushed{}, err
	}
	return Pushed{Name: familiar(image.Name()), Digest: digest.String(), Image: to.Context().Digest(digest.String()).String()}, nil
}

func (w *worker) save(ctx context.Context, r Save) (Saved, error) {
	e, tag, err := w.tagged(r.Ref, "")
	if err != nil {
		return Saved{}, err
	}
	img, err := forPlatform(e, r.Platform)
	if err != nil {
		return Saved{}, err
	}
	saved := Saved{Name: tag.String(), File: r.File, Format: r.Format}
	if saved.Format == "" {
		saved.Format = Docker
		if img.Index != nil {
			saved.Format = OCI
		}
	}
	if err := w.write(ctx, saved, tag, img); err != nil {
		return saved, err
	}
	info, err := os.Stat(r.File)
	if err == nil {
		saved.Size = info.Size()
	}
	return saved, err
}

// write writes an archive.
func (w *worker) write(ctx context.Context, s Saved, tag name.Tag, img store.Image) error {
	switch {
	case s.Format == Docker && img.Index != nil:
		return &report.Error{What: "docker's format holds one platform, but the image has several", Where: "--format",
			Hint: "--platform chooses one; --format oci takes all", Code: report.UsageCode}
	case s.Format == Docker:
		return transfer.SaveDocker(ctx, s.File, tag, img.Image)
	}
	temp, done, err := w.store.Temp()
	if err != nil {
		return err
	}
	defer done()
	return transfer.SaveOCI(ctx, s.File, tag, img, temp)
}

// forPlatform picks the image for a platform; "" is all that there is.
func forPlatform(e store.Entry, platform string) (store.Image, error) {
	if platform == "" {
		return e.Image, nil
	}
	all, err := images(e)
	if err != nil {
		return store.Image{}, err
	}
	var has []string
	for _, img := range all {
		file, err := img.ConfigFile()
		if err != nil {
			return store.Image{}, err
		}
		if file.Platform().String() == platform {
			return store.Image{Image: img}, nil
		}
		has = append(has, file.Platform().String())
	}
	return store.Image{}, &report.Error{What: "the image has no platform " + platform, Where: e.Name, Hint: "its platforms are " + strings.Join(has, ", "), Code: report.UsageCode}
}

// load pushes an image to the registry of a cluster, to where nodes look for it first.
func (w *worker) load(ctx context.Context, r Load) (Loaded, error) {
	var all []transfer.Archived
	if r.File == "" {
		e, err := w.find(r.Ref, "")
		if err != nil {
			return Loaded{}, err
		}
		ref, err := reference.Parse(r.Ref)
		if err != nil {
			return Loaded{}, err
		}
		all = []transfer.Archived{{Image: e.Image, Name: ref}}
	} else {
		temp, done, err := w.store.Temp()
		if err != nil {
			return Loaded{}, err
		}
		defer done()
		if all, err = transfer.Open(ctx, r.File, temp); err != nil {
			return Loaded{}, err
		}
	}
	var loaded Loaded
	for _, a := range all {
		to, err := kept(r.Registry, a.Name)
		if err != nil {
			return loaded, err
		}
		pushed, err := w.pushAs(ctx, a.Name, to, a.Image, r.Account)
		if err != nil {
			return loaded, err
		}
		loaded.Images = append(loaded.Images, pushed)
	}
	return loaded, nil
}

// kept is the name by which a cluster's registry keeps an image, see docs/inside/protocol.md.
func kept(registry string, ref name.Reference) (name.Reference, error) {
	host, repository := ref.Context().RegistryStr(), reference.Kept(ref)
	if _, port, _ := strings.Cut(registry, ":"); host == registry || host == "localhost:"+port {
		repository = ref.Context().RepositoryStr()
	}
	to, err := name.NewRepository(registry + "/" + repository)
	if err != nil {
		return nil, err
	}
	if digest, ok := ref.(name.Digest); ok {
		return to.Digest(digest.DigestStr()), nil
	}
	return to.Tag(ref.Identifier()), nil
}

// inspect describes an image of the store.
func (w *worker) inspect(r Inspect) (Image, error) {
	e, err := w.find(r.Ref, "")
	if err != nil {
		return Image{}, err
	}
	return describe(e, r.SBOM)
}

func (w *worker) list() ([]Listed, error) {
	entries, err := w.store.List()
	if err != nil {
		return nil, err
	}
	all := []Listed{}
	for _, e := range entries {
		d, err := describe(e, false)
		if err != nil {
			w.warn(fmt.Sprintf("the image %s is damaged and is skipped: %v", familiar(e.Name), err))
			continue
		}
		l := Listed{Name: d.Name, Digest: d.Digest, Size: d.Size, Created: time.Unix(0, 0).UTC().Format(time.RFC3339)}
		for _, p := range d.Platforms {
			l.Platforms, l.Created = append(l.Platforms, p.Platform), p.Created
		}
		all = append(all, l)
	}
	return all, nil
}

// remove removes images. That one is not there is no failure: it is gone.
func (w *worker) remove(ctx context.Context, refs []string) ([]string, error) {
	removed := []string{}
	for _, text := range refs {
		ref, err := reference.Parse(text)
		if err != nil {
			return removed, err
		}
		err = w.store.Remove(ctx, ref)
		switch {
		case errors.Is(err, store.ErrUnknown):
			w.handler.Handle(report.Note{Text: fmt.Sprintf("there is no image %s", text)})
		case err != nil:
			return removed, err
		default:
			removed = append(removed, ref.String())
		}
	}
	return removed, nil
}
