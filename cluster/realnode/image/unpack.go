package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// unpack makes the folder root and puts the image's files into it. No name and no link in a layer leads out of it.
func unpack(image v1.Image, root string, owners bool) error {
	if err := os.MkdirAll(root, folderMode); err != nil {
		return err
	}
	inside, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer inside.Close()
	files := mutate.Extract(image)
	defer files.Close()
	u := unpacking{root: inside, owners: owners}
	for reader := tar.NewReader(files); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return u.finish()
		}
		if err != nil {
			return err
		}
		if err := u.add(header, reader); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

type unpacking struct {
	root    *os.Root
	owners  bool
	folders []*tar.Header // whose modes come last: one may forbid to write into it
}

func (u *unpacking) add(h *tar.Header, content io.Reader) error {
	path := relative(h.Name)
	if path == "." {
		return nil
	}
	if err := u.root.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		if err := u.root.MkdirAll(path, folderMode); err != nil {
			return err
		}
		u.folders = append(u.folders, h)
		return u.own(path, h)
	case tar.TypeSymlink:
		if err := u.root.Symlink(h.Linkname, path); err != nil {
			return err
		}
		return u.own(path, h)
	case tar.TypeLink:
		return u.root.Link(relative(h.Linkname), path)
	case tar.TypeReg:
		return u.file(path, h, content)
	}
	return nil // devices and pipes, which a container's /dev has
}

func relative(name string) string {
	if path := strings.TrimPrefix(filepath.Clean("/"+name), "/"); path != "" {
		return path
	}
	return "."
}

func (u *unpacking) file(path string, h *tar.Header, content io.Reader) error {
	f, err := u.root.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err := errors.Join(err, f.Close(), u.own(path, h)); err != nil {
		return err
	}
	return u.root.Chmod(path, mode(h)) // after the owner, which takes the set-user-id bit away
}

func (u *unpacking) own(path string, h *tar.Header) error {
	if !u.owners || h.Uid == 0 && h.Gid == 0 {
		return nil
	}
	return u.root.Lchown(path, h.Uid, h.Gid)
}

func mode(h *tar.Header) fs.FileMode {
	const bits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	return h.FileInfo().Mode() & bits
}

func (u *unpacking) finish() error {
	for _, h := range u.folders {
		if err := u.root.Chmod(relative(h.Name), mode(h)); err != nil {
			return err
		}
	}
	return nil
}
