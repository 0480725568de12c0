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
	// maxDepth is how many levels of folders are open at once. Few trees are deeper.
	maxDepth = 100
	// batch is how many names are read at once.
	batch = 1024
	// patience is how often a name is chosen again that something else has.
	patience = 100
)

// All removes what is at path, if anything is, with all that is in it. It follows no link at path or below. What is too
// deep goes up to the top first, under a name of its own. Like os.RemoveAll, it removes what it can and returns the
// first error.
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

// removal is one of a tree.
type removal struct {
	top    int  // the tree's own folder, open
	lifted bool // something has come there since it was opened
}

// entry removes what has that name in an open folder.
func (r *removal) entry(in int, name string, depth int) error {
	err := unlink(in, name, 0)
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return nil
	case !errors.Is(err, unix.EISDIR) && !errors.Is(err, fs.ErrPermission): // the latter also where it is a folder
		return failed("unlinkat", name, err)
	case depth < maxDepth:
		return r.folder(in, name, depth, err)
	}
	return r.lift(in, name, err)
}

// folder removes a folder. Refused is why it was not removed as a file.
func (r *removal) folder(in int, name string, depth int, refused error) (first error) {
	for more := true; more; {
		at, err := openFolder(in, name, unix.O_NOFOLLOW)
		switch {
		case errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP):
			return failed("unlinkat", name, refused)
		case err != nil: // an empty folder can be removed all the same
			return r.last(in, name, cmp.Or(first, failed("openat", name, err)))
		}
		more, err = r.empty(at, name, depth)
		first = cmp.Or(first, err)
	}
	return r.last(in, name, first)
}

// last removes a folder that should be empty by now. If it is not, earlier says why.
func (r *removal) last(in int, name string, earlier error) error {
	err := unlink(in, name, unix.AT_REMOVEDIR)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(earlier, failed("unlinkat", name, err))
}

// empty removes what is in an open folder, and closes it. It says whether there may be more, which shows when the
// folder is opened again: systems may pass over names while others go.
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

// entries removes some of what is in an open folder. It returns how many are gone, and the first error.
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

// lift moves a folder with its content up to the top, whose names are read again. An empty one is removed: a user who
// may not write to it could not move it. Refused is why it was not removed as a file.
func (r *removal) lift(in int, name string, refused error) error {
	err := unlink(in, name, unix.AT_REMOVEDIR)
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, unix.ENOTDIR):
		return failed("unlinkat", name, refused)
	case !errors.Is(err, fs.ErrExist): // which it is of a folder that is not empty
		return failed("unlinkat", name, err)
	}
	for range patience {
		err = unix.Renameat(in, name, r.top, fmt.Sprintf(".lifted-%016x%016x", rand.Uint64(), rand.Uint64()))
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, unix.ENOTDIR) { // another one has that name
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

// within adds the folder to the path of an error.
func within(folder string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		p.Path = filepath.Join(folder, p.Path)
	}
	return err
}
