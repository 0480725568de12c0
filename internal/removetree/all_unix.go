//go:build unix

package removetree

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	// maxDepth bounds the levels of folders that are open at once. Few trees are deeper.
	maxDepth = 100
	// batch is the number of names that are read at once.
	batch = 1024
	// patience bounds the attempts to find a free name.
	patience = 100
)

// All removes path and all below it. A missing path is no error. It follows no links. Folders that are too deep are
// first moved to the top, under new names. Like os.RemoveAll, All removes what it can and returns the first error.
func All(path string) error {
	err := os.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	folder, name := filepath.Split(filepath.Clean(path))
	if name == "" || name == "." || name == ".." {
		return &fs.PathError{Op: "remove", Path: path, Err: unix.EINVAL}
	}
	parent, err := openFolder(unix.AT_FDCWD, cmp.Or(folder, "."), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: folder, Err: err}
	}
	defer unix.Close(parent)
	return within(folder, (&removal{}).entry(parent, name, 0))
}

type removal struct {
	top    int  // the open folder that lifted folders move to: the tree's root
	lifted bool // a folder has moved to top since top was opened
}

// entry removes an entry of an open folder, with all below it.
func (r *removal) entry(in int, name string, depth int) error {
	err := unlink(in, name, 0)
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return nil
	case !errors.Is(err, unix.EISDIR) && !errors.Is(err, fs.ErrPermission): // some systems refuse to unlink a folder with EPERM
		return failed("unlinkat", name, err)
	case depth < maxDepth:
		return r.folder(in, name, depth, err)
	}
	return r.lift(in, name, err)
}

// folder removes a folder. refused is the error of its removal as a file.
func (r *removal) folder(in int, name string, depth int, refused error) (first error) {
	for more := true; more; {
		at, err := openFolder(in, name, unix.O_NOFOLLOW)
		switch {
		case errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP):
			return failed("unlinkat", name, refused)
		case err != nil: // an empty folder can still be removed
			return r.last(in, name, cmp.Or(first, failed("openat", name, err)))
		}
		more, err = r.empty(at, name, depth)
		first = cmp.Or(first, err)
	}
	return r.last(in, name, first)
}

// last removes a folder that should be empty. If it is not, last returns earlier, the error that kept it full.
func (r *removal) last(in int, name string, earlier error) error {
	err := unlink(in, name, unix.AT_REMOVEDIR)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(earlier, failed("unlinkat", name, err))
}

// empty removes all entries of an open folder, and closes it. more means that the caller must open it again: systems
// may skip names while others are removed.
func (r *removal) empty(at int, name string, depth int) (more bool, first error) {
	folder := os.NewFile(uintptr(at), name)
	defer folder.Close()
	if depth == 0 {
		r.top, r.lifted = at, false
	}
	for {
		names, err := folder.Readdirnames(batch)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, cmp.Or(first, err)
		}
		gone, err := r.entries(at, names, depth+1)
		first = cmp.Or(first, within(name, err))
		if end := len(names) < batch; end || gone > 0 {
			return !end || depth == 0 && r.lifted, first
		}
	}
}

// entries removes named entries of an open folder. It returns the number of removed ones, and the first error.
func (r *removal) entries(in int, names []string, depth int) (gone int, first error) {
	for _, name := range names {
		err := r.entry(in, name, depth)
		if err == nil {
			gone++
		}
		first = cmp.Or(first, err)
	}
	return gone, first
}

// lift moves a folder to the top. It first tries to remove it. An empty folder without write permission can be removed,
// but not moved. refused is the error of its removal as a file.
func (r *removal) lift(in int, name string, refused error) error {
	err := unlink(in, name, unix.AT_REMOVEDIR)
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, unix.ENOTDIR):
		return failed("unlinkat", name, refused)
	case !errors.Is(err, fs.ErrExist): // ENOTEMPTY is fs.ErrExist
		return failed("unlinkat", name, err)
	}
	for range patience {
		err = unix.Renameat(in, name, r.top, fmt.Sprintf(".lifted-%016x%016x", rand.Uint64(), rand.Uint64()))
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, unix.ENOTDIR) { // the name is taken
			break
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("renameat", name, err)
	}
	r.lifted = true
	return nil
}

func openFolder(in int, name string, flags int) (fd int, err error) {
	for again := true; again; again = errors.Is(err, unix.EINTR) {
		fd, err = unix.Openat(in, name, flags|unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	return fd, err
}

func unlink(in int, name string, flags int) (err error) {
	for again := true; again; again = errors.Is(err, unix.EINTR) {
		err = unix.Unlinkat(in, name, flags)
	}
	return err
}

func failed(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// within prepends folder to an error's path.
func within(folder string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		p.Path = filepath.Join(folder, p.Path)
	}
	return err
}
