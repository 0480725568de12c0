package userdirs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// markName is the file by which a folder is known as slipway's own.
const markName = ".slipway-folder"

// mark is bound to one folder. It holds nowhere else: not in a copy, which has another inode, and not in a folder that
// was renamed, which its user has taken over by that. The device is left out, since some file systems get another
// number each time that they are mounted.
type mark struct {
	Note  string `json:"note"`
	Path  string `json:"path"`
	Inode uint64 `json:"inode"`
}

const (
	markNote = "Slipway made this folder and removes it when it is no longer needed. To keep the folder, rename it."
	// longestMark is more than a mark has: paths are shorter.
	longestMark = 64 << 10
)

// ErrForeign is that a folder is not removed, since slipway did not make it.
var ErrForeign = errors.New("it does not have slipway's mark for this folder")

// markOf is the mark that belongs into a folder. Links on the way to it do not matter, as the same folder may be
// reached by several.
func markOf(dir string) (mark, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return mark{}, err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return mark{}, err
	}
	inode, err := safefs.Inode(abs)
	return mark{markNote, filepath.Join(parent, filepath.Base(abs)), inode}, err
}

// Mark marks a folder that the caller has made just now, for its user alone. Slipway may remove it from then on.
func Mark(dir string) error {
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

// Marked reports whether slipway made this folder, for this user, and whether no other user can have changed that.
func Marked(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || !safefs.IsPrivate(info) {
		return false
	}
	path := filepath.Join(dir, markName)
	info, err = os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > longestMark || !safefs.IsPrivate(info) {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var has mark
	belongs, err := markOf(dir)
	return err == nil && json.Unmarshal(text, &has) == nil && has == belongs
}

// Remove removes a marked folder with all that is in it. The caller sees to it that no command uses it.
func Remove(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !Marked(dir) {
		err = &fs.PathError{Op: "remove", Path: dir, Err: ErrForeign}
	}
	if err != nil {
		return err
	}
	return remove(dir, info, nil)
}

// remove removes the folder that slipway made, and no other one that has its name by now. The mark goes after all else,
// so that a removal that fails or is killed can be continued. The lock is let go of then, as some systems remove no
// file that is open.
func remove(dir string, made fs.FileInfo, lock *flock.Flock) (err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, root.Close()); err == nil {
			err = os.Remove(dir) // which removes no folder that has something in it
		}
	}()
	if !isFile(made, root.Stat, ".") || !isFile(made, os.Lstat, dir) { // the latter may be a link to the former
		return &fs.PathError{Op: "remove", Path: dir, Err: ErrForeign}
	}
	if err := empty(root); err != nil {
		return err
	}
	if err := root.Remove(markName); err != nil {
		return err
	}
	if lock != nil {
		err = lock.Close()
	}
	if gone := root.Remove(lockName); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

func isFile(file fs.FileInfo, stat func(string) (fs.FileInfo, error), path string) bool {
	info, err := stat(path)
	return err == nil && os.SameFile(info, file)
}

// empty removes all but the mark and the lock.
func empty(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if e.Name() != markName && e.Name() != lockName {
			err = errors.Join(err, root.RemoveAll(e.Name()))
		}
	}
	return err
}
