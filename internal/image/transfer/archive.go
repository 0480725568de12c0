package transfer

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// Archived is an image of an archive.
type Archived struct {
	store.Image
	Name name.Reference
}

// Open returns the images of an archive of either format. Temp is a folder in which they lie from then on.
func Open(ctx context.Context, file, temp string) ([]Archived, error) {
	archive, err := inflate(file, temp)
	var oci bool
	if err == nil {
		oci, err = unpackLayout(ctx, archive, temp)
	}
	if err != nil {
		e := &report.Error{What: "the archive cannot be read", Where: file, Err: cause(err)}
		if isNoRoom(err) {
			e.Hint, e.Next = roomHint, roomNext
		}
		return nil, e
	}
	var images []Archived
	if oci {
		images, err = openLayout(temp)
	} else {
		images, err = openDocker(ctx, archive)
	}
	if err != nil {
		return nil, &report.Error{What: "this is not an archive of images", Where: file, Err: err, Hint: "use an archive of `slipway image save`, `docker save` or `podman save`"}
	}
	if len(images) == 0 {
		return nil, &report.Error{What: "no image in the archive has a name", Where: file, Hint: "save the image by its name and tag"}
	}
	return images, nil
}

// modest refuses an image that says it is larger than any should be.
func (a Archived) modest() error {
	if a.Index != nil {
		return modestIndex(a.Index)
	}
	return modest(a.Image.Image)
}

// openDocker opens the images of an archive of docker save.
func openDocker(ctx context.Context, file string) ([]Archived, error) {
	sizes, err := fileSizes(ctx, file)
	if err != nil {
		return nil, err
	}
	if sizes["manifest.json"] > maxManifest { // the library reads it at once
		return nil, fmt.Errorf("%w: manifest.json has %d bytes, and the limit is %d", errLarge, sizes["manifest.json"], maxManifest)
	}
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(file) })
	if err != nil {
		return nil, err
	}
	var images []Archived
	for _, d := range manifest {
		if size := sizes[path.Clean(d.Config)]; size > maxConfig {
			return nil, fmt.Errorf("%w: its configuration has %d bytes, and the limit is %d", errLarge, size, maxConfig)
		}
		for _, text := range d.RepoTags {
			if len(images) == maxTags {
				return nil, fmt.Errorf("%w: the archive has more than %d names of images", errLarge, maxTags)
			}
			tag, err := name.NewTag(text)
			if err != nil {
				return nil, err
			}
			img, err := tarball.ImageFromPath(file, &tag)
			if err != nil {
				return nil, err
			}
			images = append(images, Archived{store.Image{Image: img}, tag})
		}
	}
	return images, nil
}

// openLayout opens the images of a layout that have names.
func openLayout(dir string) ([]Archived, error) {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, err
	}
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var images []Archived
	for _, d := range m.Manifests {
		text := d.Annotations[containerdName]
		if text == "" {
			text = d.Annotations[refName]
		}
		if text == "" {
			continue
		}
		a := Archived{}
		if a.Name, err = name.NewTag(text); err != nil {
			return nil, err
		}
		if d.MediaType.IsIndex() {
			a.Index, err = index.ImageIndex(d.Digest)
		} else {
			a.Image.Image, err = index.Image(d.Digest)
		}
		if err == nil {
			err = a.modest()
		}
		if err != nil {
			return nil, err
		}
		images = append(images, a)
	}
	return images, nil
}

// members goes through the files of an archive. All of them together have no more than the archive: holes have a size
// and take nothing.
func members(ctx context.Context, file string, member func(h *tar.Header, content io.Reader) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	left := info.Size()
	for in := tar.NewReader(f); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if left -= h.Size; left < 0 {
			return errHoles
		}
		if err := member(h, in); err != nil {
			return err
		}
	}
}

// fileSizes are the sizes of an archive's files, for a link that of the archive.
func fileSizes(ctx context.Context, file string) (map[string]int64, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	return sizes, members(ctx, file, func(h *tar.Header, _ io.Reader) error {
		name, size := path.Clean(h.Name), h.Size
		if h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink { // the library follows it, to any of the files
			size = info.Size()
		}
		if sizes[name] = max(sizes[name], size); len(sizes) > maxFiles || len(name) > maxName {
			return fmt.Errorf("%w: it has more than %d files, or a name of more than %d bytes", errLarge, maxFiles, maxName)
		}
		return nil
	})
}

// Limits of what an archive lists, far above what images have.
const (
	maxFiles = 20_000
	maxName  = 4 << 10
	maxTags  = 1000 // of docker save: the library reads the archive anew for each
)

// unpackLayout unpacks an archive if it is one of an image layout: the library reads layouts in folders alone.
func unpackLayout(ctx context.Context, file, dir string) (oci bool, err error) {
	if oci, err = hasLayout(ctx, file); !oci || err != nil {
		return false, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return true, err
	}
	if free, known := safefs.FreeSpace(dir); known && uint64(info.Size()) > free {
		return true, &store.NoRoomError{Needed: uint64(info.Size()), Free: free}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return true, err
	}
	defer root.Close()
	return true, members(ctx, file, func(h *tar.Header, content io.Reader) error {
		if h.Typeflag != tar.TypeReg {
			return nil
		}
		return unpackFile(root, path.Clean(h.Name), content)
	})
}

var (
	errHoles  = errors.New("its files are larger than the archive itself")
	errDigest = errors.New("the contents have another digest")
)

// hasLayout says whether an archive is one of an image layout. What is no archive has none.
func hasLayout(ctx context.Context, file string) (oci bool, err error) {
	err = members(ctx, file, func(h *tar.Header, _ io.Reader) error {
		switch path.Clean(h.Name) {
		case "manifest.json": // docker's archives may be both
			return errSettled
		case "oci-layout":
			oci = true
			return errSettled
		}
		return nil
	})
	if _, unreadable := errors.AsType[*fs.PathError](err); unreadable {
		return false, err
	}
	return oci, ctx.Err()
}

// errSettled ends a search.
var errSettled = errors.New("it is found")

// unpackFile writes a file of a layout. Root keeps it within its folder. Contents have the digest that they are named
// by.
func unpackFile(root *os.Root, name string, from io.Reader) error {
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	f, err := root.Create(strings.TrimPrefix(name, "./"))
	if err != nil {
		return fmt.Errorf("unpack %s: %w", name, err)
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), from)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if digest, ok := strings.CutPrefix(name, "blobs/sha256/"); ok && digest != hex.EncodeToString(sum.Sum(nil)) {
		return fmt.Errorf("%s: %w", name, errDigest)
	}
	return nil
}
