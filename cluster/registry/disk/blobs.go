package disk

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"cuelabs.dev/go/oci/ociregistry"
	"github.com/opencontainers/go-digest"
)

// blobType is the media type of contents: registries do not know it.
const blobType = "application/octet-stream"

// blobPath is where contents are; ok is false for digests that are kept under no name here.
func (b *Backend) blobPath(d ociregistry.Digest) (path string, ok bool) {
	if d.Validate() != nil || d.Algorithm() != digest.SHA256 {
		return "", false
	}
	return filepath.Join(b.dir, "blobs", d.Algorithm().String(), d.Encoded()), true
}

// hasBlob says whether contents are there.
func (b *Backend) hasBlob(d ociregistry.Digest) bool {
	path, ok := b.blobPath(d)
	if !ok {
		return false
	}
	_, err := os.Stat(path)
	return err == nil
}

// opened is a file, or a part of one, with its descriptor.
type opened struct {
	io.Reader
	io.Closer
	descriptor ociregistry.Descriptor
}

func (o opened) Descriptor() ociregistry.Descriptor { return o.descriptor }

// open opens contents and says how large they are.
func (b *Backend) open(d ociregistry.Digest) (*os.File, int64, error) {
	path, ok := b.blobPath(d)
	if !ok {
		return nil, 0, ociregistry.ErrBlobUnknown
	}
	f, err := os.Open(path)
	if absent(err) {
		return nil, 0, ociregistry.ErrBlobUnknown
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("%w, %w", err, f.Close())
	}
	return f, info.Size(), nil
}

// GetBlob opens contents.
func (b *Backend) GetBlob(ctx context.Context, repo string, d ociregistry.Digest) (ociregistry.BlobReader, error) {
	return b.GetBlobRange(ctx, repo, d, 0, -1)
}

// GetBlobRange opens a part of contents.
func (b *Backend) GetBlobRange(_ context.Context, _ string, d ociregistry.Digest, from, to int64) (ociregistry.BlobReader, error) {
	b.swept()
	f, size, err := b.open(d)
	if err != nil {
		return nil, err
	}
	if to < 0 || to > size {
		to = size
	}
	descriptor := ociregistry.Descriptor{MediaType: blobType, Digest: d, Size: size}
	if from == 0 && to == size {
		return opened{f, f, descriptor}, nil // as a file it is sent without being copied
	}
	return opened{io.NewSectionReader(f, from, max(to-from, 0)), f, descriptor}, nil
}

// ResolveBlob says whether contents are there. Who asks is about to rely on the answer.
func (b *Backend) ResolveBlob(_ context.Context, _ string, d ociregistry.Digest) (ociregistry.Descriptor, error) {
	b.swept()
	b.use.RLock()
	defer b.use.RUnlock()
	path, ok := b.blobPath(d)
	if !ok {
		return ociregistry.Descriptor{}, ociregistry.ErrBlobUnknown
	}
	info, err := os.Stat(path)
	if absent(err) {
		return ociregistry.Descriptor{}, ociregistry.ErrBlobUnknown
	}
	if err != nil {
		return ociregistry.Descriptor{}, err
	}
	touch(path)
	b.promises.make(d)
	return ociregistry.Descriptor{MediaType: blobType, Digest: d, Size: info.Size()}, nil
}

// MountBlob makes contents of one repository those of another, which they are anyway.
func (b *Backend) MountBlob(ctx context.Context, _, to string, d ociregistry.Digest) (ociregistry.Descriptor, error) {
	return b.ResolveBlob(ctx, to, d)
}
