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
	// maxName is how many bytes a path in an image has at most, as in the kernel. The latter bounds what one call gets,
	// and unpacking goes from folder to folder.
	maxName = 4096
	// maxParts is how many folders may be within each other: more than images have, and few enough to be open at once.
	maxParts = 256
)

// errName is the error of an image with paths that are longer or deeper.
var errName = fmt.Errorf("a path in an image may have at most %d bytes and %d folders", maxName, maxParts)

// measure refuses paths that are too long or too deep.
func measure(path string) error {
	if len(path) > maxName || strings.Count(path, "/") >= maxParts {
		return errName
	}
	return nil
}

// place is where a name lies, by way of links to folders that lower layers have; not of its own. The folders that lead
// there are made.
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
		if err := u.lead(found); err != nil {
			return "", err
		}
		u.asked, u.found = folder, found
	}
	path := filepath.Join(u.found, filepath.Base(name))
	return path, measure(path) // links may have made it longer
}

// lead makes the folders of a path that are not there, each of which takes as much as one with an entry of its own.
func (u *unpacking) lead(path string) error {
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

// anew does what fails with something in its place, and does it again without that.
func (u *unpacking) anew(path string, do func() error) error {
	err := do()
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	u.asked = "" // it may have been on the way
	if err := u.root.RemoveAll(path); err != nil {
		return err
	}
	return do()
}

func (u *unpacking) folder(path string, h *tar.Header) error {
	if info, err := u.root.Lstat(path); err != nil || !info.IsDir() {
		if err := u.anew(path, func() error { return u.root.Mkdir(path, folderMode) }); err != nil {
			return err
		}
	}
	u.folders[path] = ending{mode(h), h.ModTime}
	return u.give(path, h)
}

func (u *unpacking) symlink(path string, h *tar.Header) error {
	u.asked = ""
	if err := u.anew(path, func() error { return u.root.Symlink(h.Linkname, path) }); err != nil {
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
		return nil // a year that the system does not know
	}
	return unix.UtimesNanoAt(int(folder.Fd()), filepath.Base(path), []unix.Timespec{time, time}, unix.AT_SYMLINK_NOFOLLOW)
}

// link gives a file another name. The file may be a lower layer's.
func (u *unpacking) link(path string, h *tar.Header) error {
	to, err := u.place(relative(h.Linkname))
	if err != nil || to == path {
		return err
	}
	if info, err := u.root.Lstat(to); err != nil || info.IsDir() {
		return fmt.Errorf("the file that it is another name of: %w", errors.Join(err, fs.ErrInvalid))
	}
	return u.anew(path, func() error { return u.root.Link(to, path) })
}

func (u *unpacking) file(path string, h *tar.Header, content io.Reader) error {
	var f *os.File
	err := u.anew(path, func() (err error) {
		f, err = u.root.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, u.give(path, h)); err == nil {
		err = f.Chmod(mode(h)) // after the owner, which takes the set-user-id bit and capabilities away
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

// attributes gives a file its capabilities, which hold in the containers of this user namespace, and the attributes
// that are programs' own. Those of overlays are not an image's business: they say where else in the node a layer has
// its files.
func (u *unpacking) attributes(f *os.File, path string, h *tar.Header) {
	for record, value := range h.PAXRecords {
		name, ok := strings.CutPrefix(record, attributePrefix)
		programs := strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "user.overlay.")
		if !ok || runtime.GOOS != "linux" || name != capability && !programs {
			continue
		}
		if err := unix.Fsetxattr(int(f.Fd()), name, []byte(value), 0); err != nil && name == capability {
			u.bare = append(u.bare, path)
		}
	}
}

const (
	// maxUnpacked is more than the largest images have.
	maxUnpacked = 64 << 30
	// kept is what an image leaves of the room that there is.
	kept = 512 << 20
)

// room is how much of its disk a folder's image may take.
type room struct {
	dir  string
	free int64 // bytes
}

// roomOf looks at the folder's disk.
func roomOf(dir string) (room, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return room{}, fmt.Errorf("how much room there is: %w", err)
	}
	free := min(uint64(s.Bavail), maxUnpacked/512) * uint64(s.Bsize) //nolint:unconvert // of other types on other systems
	return room{dir, int64(min(free, 2*maxUnpacked))}, nil
}

// bytes is how many an image's files may take.
func (r room) bytes() int64 { return min(r.free-kept, maxUnpacked) }

// exceeded is the error of an image that takes more.
func (r room) exceeded() error {
	if r.free-kept > maxUnpacked {
		return fmt.Errorf("%w: an image may have at most %d GiB", errTooLarge, maxUnpacked>>30)
	}
	return fmt.Errorf("%w: the disk of %s has %d MiB free, and images must leave %d MiB free; "+
		"free space there (`df -h` shows the disk, `slipway cluster list` clusters to delete)", errTooLarge, r.dir, r.free>>20, kept>>20)
}
