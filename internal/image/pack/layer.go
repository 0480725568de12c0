package pack

import (
	"archive/tar"
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
	fast "github.com/klauspost/compress/gzip"

	"github.com/slipway-dev/slipway/internal/image/rootfs"
)

var errNoImage = errors.New("it has a subject, as attachments of images have")

// Layer writes files into a layer, in one pass. The layer is kept in a file in the folder temp, for its user to remove
// with that.
func Layer(files []rootfs.File, created time.Time, temp string) (v1.Layer, error) {
	return write(temp, func(w *tar.Writer) error {
		for _, f := range files {
			if err := add(w, f, created); err != nil {
				return err
			}
		}
		return nil
	})
}

// ProgramLayer writes the program at path into a layer, as the file to.
func ProgramLayer(path, to string, created time.Time, temp string) (v1.Layer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return write(temp, func(w *tar.Writer) error {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: to, Mode: 0o755, Size: info.Size(), ModTime: created, Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err := io.Copy(w, f)
		return err
	})
}

// Copied is a file of a project, and where a layer has it.
type Copied struct {
	From, To string // To is without the leading slash; without From it is an empty folder
	Follow   bool   // a link is followed
	Mode     int64  // 0 is 755 for what its owner may run, and 644 for all others
	UID, GID int
}

// maxCopied is how many bytes are copied at most.
const maxCopied = 4 << 30

var (
	errCopied = errors.New("the files have more than 4 GiB")
	errNoFile = errors.New("it is neither a file nor a link")
)

// CopiedLayer writes files of a project's folder into a layer. What their names lead through is followed within the
// folder alone.
func CopiedLayer(root *os.Root, files []Copied, created time.Time, temp string) (v1.Layer, error) {
	left := int64(maxCopied)
	return write(temp, func(w *tar.Writer) error {
		for _, f := range files {
			if err := copyFile(w, root, f, created, &left); err != nil {
				return fmt.Errorf("%s: %w", f.From, err)
			}
		}
		return nil
	})
}

func copyFile(w *tar.Writer, root *os.Root, c Copied, created time.Time, left *int64) error {
	if c.From == "" {
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: c.To + "/", Mode: 0o755, Uid: c.UID, Gid: c.GID, ModTime: created, Format: tar.FormatPAX})
	}
	from := filepath.FromSlash(c.From)
	stat := root.Lstat
	if c.Follow {
		stat = root.Stat
	}
	info, err := stat(from)
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: c.To, Mode: c.Mode, Uid: c.UID, Gid: c.GID, ModTime: created, Format: tar.FormatPAX}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		h.Typeflag, h.Mode = tar.TypeSymlink, 0o777
		if h.Linkname, err = root.Readlink(from); err != nil {
			return err
		}
		return w.WriteHeader(h)
	case !info.Mode().IsRegular():
		return errNoFile
	}
	f, err := root.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	if h.Size = info.Size(); h.Size > *left {
		return errCopied
	}
	*left -= h.Size
	if h.Mode = cmp.Or(c.Mode, 0o644); c.Mode == 0 && info.Mode()&0o100 != 0 {
		h.Mode = 0o755
	}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.CopyN(w, f, h.Size)
	return err
}

func add(w *tar.Writer, f rootfs.File, created time.Time) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: int64(f.Mode.Perm()), Size: int64(len(f.Data)), Uid: f.UID, Gid: f.UID,
		ModTime: created, Format: tar.FormatPAX}
	if f.Mode.IsDir() {
		h.Typeflag, h.Name = tar.TypeDir, f.Path+"/"
	}
	if f.Mode&fs.ModeSticky != 0 {
		h.Mode |= 0o1000
	}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err := w.Write(f.Data)
	return err
}

// counted is a hash over what goes by, and how much that is.
type counted struct {
	hash.Hash
	size int64
}

func (c *counted) Write(p []byte) (int, error) {
	c.size += int64(len(p))
	return c.Hash.Write(p)
}

func (c *counted) digest() v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(c.Sum(nil))}
}

// write compresses an archive into a file.
func write(temp string, fill func(*tar.Writer) error) (v1.Layer, error) {
	f, err := os.CreateTemp(temp, "layer-")
	if err != nil {
		return nil, err
	}
	compressed, plain := &counted{Hash: sha256.New()}, &counted{Hash: sha256.New()}
	buffer := bufio.NewWriterSize(io.MultiWriter(f, compressed), 1<<20)
	zipped, err := fast.NewWriterLevel(buffer, fast.BestSpeed)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	archive := tar.NewWriter(io.MultiWriter(zipped, plain))
	for _, step := range []func() error{func() error { return fill(archive) }, archive.Close, zipped.Close, buffer.Flush} {
		if err == nil {
			err = step()
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return FileLayer(f.Name(), compressed.digest(), plain.digest(), compressed.size)
}

// FileLayer is a layer that was written before, in a file.
func FileLayer(path string, digest, diffID v1.Hash, size int64) (v1.Layer, error) {
	return partial.CompressedToLayer(fileLayer{path, digest, diffID, size})
}

// fileLayer is a compressed layer in a file.
type fileLayer struct {
	path         string
	digest, diff v1.Hash
	size         int64
}

func (l fileLayer) Digest() (v1.Hash, error)            { return l.digest, nil }
func (l fileLayer) DiffID() (v1.Hash, error)            { return l.diff, nil }
func (l fileLayer) Size() (int64, error)                { return l.size, nil }
func (l fileLayer) MediaType() (types.MediaType, error) { return types.OCILayer, nil }
func (l fileLayer) Compressed() (io.ReadCloser, error)  { return os.Open(l.path) }
