package session

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// markName is the file by which a folder is known as one of a session.
const markName = ".slipway-folder"

// marking is what that file holds. It is bound to one folder and holds nowhere else: not in a copy, which has another
// inode, and not in a folder that was renamed. Users call their projects what they like, also among temporary files.
type marking struct {
	Note  string `json:"note"`
	Path  string `json:"path"`
	Inode uint64 `json:"inode"`
}

const (
	note = "Slipway made this folder and removes it when it is no longer needed. To keep the folder, rename it."
	// longestMark is more than a mark has: paths are shorter.
	longestMark = 64 << 10
)

// errForeign is that a folder is not removed, since no session made it.
var errForeign = errors.New("it does not have slipway's mark for this folder")

// markOf is the mark that belongs into a folder, whichever links lead to it.
func markOf(dir string) (marking, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return marking{}, err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return marking{}, err
	}
	number, err := inode(abs)
	return marking{note, filepath.Join(parent, filepath.Base(abs)), number}, err
}

// mark marks a folder that was made just now.
func mark(dir string) error {
	m, err := markOf(dir)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, markName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// isMarked reports whether a session of this user made this folder, and whether no other user can have changed that.
func isMarked(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || !isPrivate(info) {
		return false
	}
	path := filepath.Join(dir, markName)
	info, err = os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > longestMark || !isPrivate(info) {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var has marking
	belongs, err := markOf(dir)
	return err == nil && json.Unmarshal(text, &has) == nil && has == belongs
}

// remove removes the folder that a session made, and no other one that has its name by now. The mark goes after all
// else, so that a later sweep continues a removal that fails or is killed. The lock is let go of then, as some systems
// remove no file that is open.
func (f folder) remove() (err error) {
	defer func() { _ = f.held.Close() }()
	root, err := os.OpenRoot(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, root.Close()); err == nil {
			err = os.Remove(f.path) // which removes no folder that has something in it
		}
	}()
	if !isFile(f.made, root.Stat, ".") || !isFile(f.made, os.Lstat, f.path) { // the latter may be a link to the former
		return &fs.PathError{Op: "remove", Path: f.path, Err: errForeign}
	}
	if err := empty(root); err != nil {
		return err
	}
	if err := root.Remove(markName); err != nil {
		return err
	}
	return errors.Join(f.held.Close(), root.Remove(holderName))
}

func isFile(file fs.FileInfo, stat func(string) (fs.FileInfo, error), path string) bool {
	info, err := stat(path)
	return err == nil && os.SameFile(info, file)
}

// empty removes all but the mark and the lock of the process that made the folder.
func empty(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if e.Name() != markName && e.Name() != holderName {
			err = errors.Join(err, root.RemoveAll(e.Name()))
		}
	}
	return err
}
