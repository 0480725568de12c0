package imagestore

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// unpacking unpacks an image's layers into one folder, the lowest first. No name or link in a layer leads out of the
// folder.
type unpacking struct {
	dir    string
	root   *os.Root
	owners bool
	room   room
	left   int64 // bytes of the room that are left

	folders             map[string]finalAttributes // modes and times to set at the end: a mode may forbid writing, and each change resets the time
	own                 map[string]bool            // paths from the current layer
	withoutCapabilities []string                   // files that did not get their capabilities
	asked               string                     // the folder that place resolved last
	found               string                     // the result for asked
}

// finalAttributes is the final mode and time of a folder. The tar header is not kept, since it can have a megabyte of
// records.
type finalAttributes struct {
	mode fs.FileMode
	time time.Time
}

var (
	errLayers   = errors.New("the image's layers differ from those in its configuration")
	errTooLarge = errors.New("the image has too many files for the disk")
)

// unpack unpacks an image into the new folder root. It returns the files that did not get their capabilities.
func unpack(image v1.Image, root string, owners bool) (bare []string, err error) {
	if err := os.MkdirAll(root, folderMode); err != nil {
		return nil, err
	}
	inside, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer inside.Close()
	u := unpacking{dir: root, root: inside, owners: owners, folders: map[string]finalAttributes{}}
	if u.room, err = roomOf(root); err != nil {
		return nil, err
	}
	u.left = u.room.bytes()
	layers, err := image.Layers()
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	if len(config.RootFS.DiffIDs) != len(layers) {
		return nil, errLayers
	}
	for i, l := range layers {
		if err := u.layer(l, config.RootFS.DiffIDs[i]); err != nil {
			return nil, err
		}
	}
	return u.withoutCapabilities, u.finish()
}

// layer unpacks a layer and checks its digest against the image's configuration. The store knows an image by its
// configuration alone, so a forged layer could otherwise replace a real image.
func (u *unpacking) layer(l v1.Layer, id v1.Hash) error {
	content, err := l.Uncompressed()
	if err != nil {
		return err
	}
	defer content.Close()
	sum := sha256.New()
	from := io.TeeReader(content, sum)
	u.own, u.asked, u.found = map[string]bool{}, "", ""
	for reader := tar.NewReader(from); ; {
		header, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := u.add(header, reader); err != nil {
			return fmt.Errorf("%.*s: %w", maxName, header.Name, err)
		}
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(from, u.left)) // the digest includes what follows the archive's end
	if err != nil {
		return err
	}
	if u.left -= rest; u.left <= 0 {
		return u.room.exceeded()
	}
	if id.Algorithm != "sha256" || hex.EncodeToString(sum.Sum(nil)) != id.Hex {
		return errLayers
	}
	return nil
}

// entryCost is the assumed cost of an entry besides its content, in bytes.
const entryCost = 4 << 10

func (u *unpacking) add(h *tar.Header, content io.Reader) error {
	if h.Size < 0 || h.Size > u.left-entryCost {
		return u.room.exceeded()
	}
	u.left -= h.Size + entryCost
	name := relative(h.Name)
	if name == "." {
		return nil
	}
	path, err := u.place(name)
	if err != nil {
		return err
	}
	if hidden, ok := strings.CutPrefix(filepath.Base(path), whiteout); ok {
		return u.hide(filepath.Dir(path), hidden)
	}
	u.note(path)
	switch h.Typeflag {
	case tar.TypeDir:
		return u.folder(path, h)
	case tar.TypeReg:
		return u.file(path, h, content)
	case tar.TypeSymlink:
		return u.symlink(path, h)
	case tar.TypeLink:
		return u.link(path, h)
	}
	return nil // devices and pipes: a container has its own /dev
}

// note records that path and the folders above it are of the current layer.
func (u *unpacking) note(path string) {
	for ; path != "." && !u.own[path]; path = filepath.Dir(path) {
		u.own[path] = true
	}
}

func relative(name string) string {
	if path := strings.TrimPrefix(filepath.Clean("/"+name), "/"); path != "" {
		return path
	}
	return "."
}

// Whiteouts: entries that remove files of lower layers (OCI image-spec, layer.md).
const (
	whiteout = ".wh."
	opaque   = ".wh..opq" // after the prefix whiteout
)

// hide removes an entry of lower layers, or with an opaque whiteout all of a folder's.
func (u *unpacking) hide(folder, hidden string) error {
	switch {
	case hidden == opaque:
		return u.clear(folder)
	case strings.HasPrefix(hidden, whiteout): // metadata of AUFS
		return nil
	case hidden == "" || hidden == "." || hidden == "..":
		return errors.New("not a name of something to take away")
	}
	path := filepath.Join(folder, hidden)
	if u.own[path] {
		return nil
	}
	return u.root.RemoveAll(path)
}

// clear removes all entries of a folder that are not of the current layer.
func (u *unpacking) clear(folder string) error {
	dir, err := u.root.Open(folder)
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case !u.own[path]:
			err = u.root.RemoveAll(path)
		case e.IsDir():
			err = u.clear(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finish sets the modes and times of folders, the innermost first.
func (u *unpacking) finish() error {
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(u.folders))) {
		info, err := u.root.Lstat(path)
		if errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() { // removed or replaced by a later layer
			continue
		}
		f := u.folders[path]
		if err := errors.Join(err, u.root.Chtimes(path, f.time, f.time), u.root.Chmod(path, f.mode)); err != nil {
			return err
		}
	}
	return nil
}
