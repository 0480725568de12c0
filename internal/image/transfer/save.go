package transfer

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/report"
)

// Annotations by which archives give the names of their images.
const (
	refName        = "org.opencontainers.image.ref.name"
	containerdName = "io.containerd.image.name"
)

// SaveDocker writes an archive as docker save does. It is whole or not there.
func SaveDocker(ctx context.Context, file string, tag name.Tag, img v1.Image) error {
	return whole(ctx, file, func(w io.Writer) error { return tarball.Write(tag, img, w) })
}

// SaveOCI writes an image layout into an archive. It is whole or not there. Temp is a folder for it to use.
func SaveOCI(ctx context.Context, file string, tag name.Tag, img store.Image, temp string) error {
	path, err := layout.Write(filepath.Join(temp, "layout"), empty.Index)
	if err != nil {
		return err
	}
	named := layout.WithAnnotations(map[string]string{containerdName: canonical(tag), refName: tag.TagStr()})
	if img.Index != nil {
		err = path.AppendIndex(img.Index, named)
	} else {
		err = path.AppendImage(img.Image, named)
	}
	if err != nil {
		return err
	}
	return whole(ctx, file, func(w io.Writer) error { return archive(w, string(path)) })
}

// canonical is a full name as container runtimes write it. The library names docker's registry by the host that
// answers.
func canonical(tag name.Tag) string {
	if rest, hub := strings.CutPrefix(tag.Name(), name.DefaultRegistry+"/"); hub {
		return "docker.io/" + rest
	}
	return tag.Name()
}

// whole writes a file that is there when all of it is.
func whole(ctx context.Context, file string, write func(io.Writer) error) error {
	file, err := replaceable(file)
	if err != nil {
		return &report.Error{What: "the archive cannot be written", Where: file, Err: cause(err)}
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-")
	if err != nil {
		return &report.Error{What: "the archive cannot be written", Where: file, Err: cause(err)}
	}
	err = errors.Join(write(until{ctx, f}), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &report.Error{What: "the archive cannot be written", Where: file, Err: cause(err)}
	}
	return nil
}

var errNoFile = errors.New("it is not a file")

// replaceable is the file that a path leads to, which may not be there yet. A folder or a device is not to be replaced.
func replaceable(file string) (string, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	if err != nil {
		return file, err
	}
	if !info.Mode().IsRegular() {
		return file, errNoFile
	}
	return filepath.EvalSymlinks(file)
}

// until writes until its context ends.
type until struct {
	ctx context.Context
	io.Writer
}

func (u until) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Writer.Write(p)
}

// cause is what is wrong with a file, without its name.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// archive writes the files of a folder, in an order and with a time that do not change.
func archive(w io.Writer, dir string) error {
	out := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		return archiveFile(out, file, filepath.ToSlash(relative))
	})
	return errors.Join(err, out.Close())
}

func archiveFile(out *tar.Writer, file, as string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: as, Mode: 0o644, Size: info.Size(), ModTime: time.Unix(0, 0)}); err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return err
}
