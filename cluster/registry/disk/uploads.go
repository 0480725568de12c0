package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"cuelabs.dev/go/oci/ociregistry"
	"github.com/opencontainers/go-digest"
)

// PushBlob takes contents in one piece.
func (b *Backend) PushBlob(_ context.Context, _ string, d ociregistry.Descriptor, r io.Reader) (ociregistry.Descriptor, error) {
	b.swept()
	f, err := b.begin()
	if err != nil {
		return ociregistry.Descriptor{}, err
	}
	u := &upload{b: b, f: f, at: -1}
	defer func() { _ = u.Cancel() }() // what stays is swept later
	if _, err := io.Copy(u, r); err != nil {
		return ociregistry.Descriptor{}, err
	}
	if d.Size >= 0 && u.size != d.Size {
		return ociregistry.Descriptor{}, ociregistry.ErrSizeInvalid
	}
	return u.Commit(d.Digest)
}

// PushBlobChunked begins to take contents in pieces.
func (b *Backend) PushBlobChunked(context.Context, string, int) (ociregistry.BlobWriter, error) {
	b.swept()
	f, err := b.begin()
	if err != nil {
		return nil, err
	}
	return &upload{b: b, f: f}, nil
}

// PushBlobChunkedResume goes on with the upload of that id.
func (b *Backend) PushBlobChunkedResume(_ context.Context, _, id string, offset int64, _ int) (ociregistry.BlobWriter, error) {
	b.swept()
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return nil, ociregistry.ErrBlobUploadUnknown // no name of a file that begin has made
	}
	f, err := os.OpenFile(filepath.Join(b.uploads(), id), os.O_RDWR, 0)
	if absent(err) {
		return nil, ociregistry.ErrBlobUploadUnknown
	}
	if err != nil {
		return nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &upload{b: b, f: f, size: size, at: offset}, nil
}

// upload is a file that grows, until it is published under its digest.
type upload struct {
	b      *Backend
	f      *os.File
	size   int64
	at     int64 // where the next piece is said to begin; negative: at the end
	full   bool  // there was no room for a piece
	closed bool
}

// Write appends to the file.
func (u *upload) Write(p []byte) (int, error) {
	if u.at >= 0 && u.at != u.size {
		return 0, fmt.Errorf("%w: the upload has %d bytes, the piece begins at %d", ociregistry.ErrRangeInvalid, u.size, u.at)
	}
	u.at = -1
	n, err := u.f.Write(p)
	u.size += int64(n)
	err = told(err)
	u.full = u.full || errors.Is(err, ErrFull)
	return n, err
}

// Size is how much there is by now.
func (u *upload) Size() int64 { return u.size }

// ChunkSize is that pieces may have any size.
func (u *upload) ChunkSize() int { return 0 }

// ID is what the upload is resumed by.
func (u *upload) ID() string { return filepath.Base(u.f.Name()) }

// Close leaves the upload for a client to resume. One that there was no room for takes none.
func (u *upload) Close() error {
	if u.closed {
		return nil
	}
	if u.full {
		return u.Cancel()
	}
	u.closed = true
	return told(u.f.Close())
}

// Cancel gives the upload up. After Commit it does nothing.
func (u *upload) Cancel() error {
	if u.closed {
		return nil
	}
	u.closed = true
	return errors.Join(u.f.Close(), os.Remove(u.f.Name()))
}

// Commit publishes the contents, if they have the digest.
func (u *upload) Commit(d ociregistry.Digest) (ociregistry.Descriptor, error) {
	path, ok := u.b.blobPath(d)
	if !ok {
		return ociregistry.Descriptor{}, fmt.Errorf("%w: only sha256 digests are supported", ociregistry.ErrUnsupported)
	}
	if _, err := u.f.Seek(0, io.SeekStart); err != nil {
		return ociregistry.Descriptor{}, err
	}
	is, err := digest.SHA256.FromReader(u.f)
	if err != nil {
		return ociregistry.Descriptor{}, err
	}
	if is != d {
		return ociregistry.Descriptor{}, errors.Join(ociregistry.ErrDigestInvalid, u.Cancel())
	}
	u.closed = true
	u.b.use.RLock()
	defer u.b.use.RUnlock()
	if err := u.b.publish(u.f, path); err != nil {
		return ociregistry.Descriptor{}, err
	}
	u.b.promises.make(d)
	return ociregistry.Descriptor{MediaType: blobType, Digest: d, Size: u.size}, nil
}
