package imagestore

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/containerinit"
)

const (
	// maxName bounds a path in an image, in bytes, as PATH_MAX does. The kernel bounds the path of one call only, and
	// unpacking opens folder by folder.
	maxName = 4096
	// maxParts bounds the depth of folders: more than images have, and few enough to open at once.
	maxParts = 256
)

// errName means that a path in an image is too long or too deep.
var errName = fmt.Errorf("a path in an image may have at most %d bytes and %d folders", maxName, maxParts)

// measure returns errName for a path that is too long or too deep.
func measure(path string) error {
	if len(path) > maxName || strings.Count(path, "/") >= maxParts {
		return errName
	}
	return nil
}

// place returns the real path of an entry. It resolves links in the folders above the entry, but not the entry itself,
// and makes missing folders.
func (u *unpacking) place(name string) (string, error) {
	folder := filepath.Dir(name)
	if err := measure(name); err != nil || folder == "." {
		return name, err
	}
	if folder != u.asked {
		at, err := containerinit.Within(u.dir, folder)
		if err != nil {
			return "", err
		}
		found := relative(strings.TrimPrefix(at, u.dir))
		if err := u.makeParents(found); err != nil {
			return "", err
		}
		u.asked, u.found = folder, found
	}
	path := filepath.Join(u.found, filepath.Base(name))
	return path, measure(path) // links can make it longer
}

// makeParents makes the missing folders of a path. Each costs as much room as an entry.
func (u *unpacking) makeParents(path string) error {
	if err := measure(path); err != nil {
		return err
	}
	for at := path; at != "."; at = filepath.Dir(at) {
		if _, err := u.root.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		u.left -= entryCost
	}
	if u.left < 0 {
		return u.room.exceeded()
	}
	return u.root.MkdirAll(path, folderMode)
}

// replacing calls do. If something exists at path, it removes that and calls do again.
func (u *unpacking) replacing(path string, do func() error) error {
	err := do()
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	u.asked = "" // the cached folder may have been removed
	if err := u.root.RemoveAll(path); err != nil {
		return err
	}
	return do()
}

func (u *unpacking) folder(path string, h *tar.Header) error {
	if info, err := u.root.Lstat(path); err != nil || !info.IsDir() {
		if err := u.replacing(path, func() error { return u.root.Mkdir(path, folderMode) }); err != nil {
			return err
		}
	}
	u.folders[path] = finalAttributes{mode(h), h.ModTime}
	return u.give(path, h)
}

func (u *unpacking) symlink(path string, h *tar.Header) error {
	u.asked = ""
	if err := u.replacing(path, func() error { return u.root.Symlink(h.Linkname, path) }); err != nil {
		return err
	}
	if err := u.give(path, h); err != nil {
		return err
	}
	folder, err := u.root.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	time, err := unix.TimeToTimespec(h.ModTime)
	if err != nil {
		return nil // the year is out of the system's range
	}
	return unix.UtimesNanoAt(int(folder.Fd()), filepath.Base(path), []unix.Timespec{time, time}, unix.AT_SYMLINK_NOFOLLOW)
}

// link makes a hard link, possibly to a file of a lower layer.
func (u *unpacking) link(path string, h *tar.Header) error {
	to, err := u.place(relative(h.Linkname))
	if err != nil || to == path {
		return err
	}
	if info, err := u.root.Lstat(to); err != nil || info.IsDir() {
		return fmt.Errorf("the file that it is another name of: %w", errors.Join(err, fs.ErrInvalid))
	}
	return u.replacing(path, func() error { return u.root.Link(to, path) })
}

func (u *unpacking) file(path string, h *tar.Header, content io.Reader) error {
	var f *os.File
	err := u.replacing(path, func() (err error) {
		f, err = u.root.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, u.give(path, h)); err == nil {
		err = f.Chmod(mode(h)) // after the change of owner, which clears set-user-id and capabilities
	}
	if err == nil {
		u.attributes(f, path, h)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return u.root.Chtimes(path, h.ModTime, h.ModTime)
}

func (u *unpacking) give(path string, h *tar.Header) error {
	if !u.owners || h.Uid == 0 && h.Gid == 0 {
		return nil
	}
	return u.root.Lchown(path, h.Uid, h.Gid)
}

func mode(h *tar.Header) fs.FileMode {
	const bits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	return h.FileInfo().Mode() & bits
}

const (
	attributePrefix = "SCHILY.xattr."
	capability      = "security.capability"
)

// attributes sets a file's capabilities, which take effect in containers' user namespaces, and its user.* attributes.
// It skips those of overlays, by which an image could redirect a layer to other files of the node.
func (u *unpacking) attributes(f *os.File, path string, h *tar.Header) {
	for record, value := range h.PAXRecords {
		name, ok := strings.CutPrefix(record, attributePrefix)
		programs := strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "user.overlay.")
		if !ok || runtime.GOOS != "linux" || name != capability && !programs {
			continue
		}
		if err := unix.Fsetxattr(int(f.Fd()), name, []byte(value), 0); err != nil && name == capability {
			u.withoutCapabilities = append(u.withoutCapabilities, path)
		}
	}
}

const (
	// maxUnpacked bounds the size of an unpacked image, in bytes. The largest known images are smaller.
	maxUnpacked = 64 << 30
	// kept is the free space, in bytes, that an image must leave on the disk.
	kept = 512 << 20
)

// room is the space on the disk for an image.
type room struct {
	dir  string
	free int64 // bytes
}

// roomOf measures the disk of a folder.
func roomOf(dir string) (room, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return room{}, fmt.Errorf("how much room there is: %w", err)
	}
	free := min(uint64(s.Bavail), maxUnpacked/512) * uint64(s.Bsize) //nolint:unconvert // of other types on other systems
	return room{dir, int64(min(free, 2*maxUnpacked))}, nil
}

// bytes returns the number of bytes that an image's files may take.
func (r room) bytes() int64 { return min(r.free-kept, maxUnpacked) }

// exceeded returns the error of an image that is too large.
func (r room) exceeded() error {
	if r.free-kept > maxUnpacked {
		return fmt.Errorf("%w: an image may have at most %d GiB", errTooLarge, maxUnpacked>>30)
	}
	return fmt.Errorf("%w: the disk of %s has %d MiB free, and images must leave %d MiB free; "+
		"free space there (`df -h` shows the disk, `slipway cluster list` clusters to delete)", errTooLarge, r.dir, r.free>>20, kept>>20)
}
