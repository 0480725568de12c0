package transaction

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Interrupted reports whether the folder has an unfinished run, or something in its place.
func Interrupted(root string) bool {
	_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(pending)))
	return err == nil
}

// Recover reverts what a killed run left and returns the paths of the restored files. It returns a [ForeignError] for
// anything that the key does not seal.
func Recover(disk Disk, root string, key Key) (restored []string, err error) {
	r, err := open(disk, root, key)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if !Interrupted(root) {
		if r.isFolder(slipwayFolder) {
			_ = disk.Remove(r.root(), slipwayFolder) // a run may have created it; stays unless it is empty
		}
		return nil, nil
	}
	if !r.isFolder(slipwayFolder) || !r.isFolder(pending) {
		return nil, &ForeignError{Path: pending, Err: errLinked}
	}
	var there bool
	if r.journal, there, err = r.readJournal(journalFile); err != nil {
		return nil, err
	}
	if there {
		return r.rollback()
	}
	if r.journal, there, err = r.readJournal(doneFile); err != nil {
		return nil, err
	}
	if !there && !r.owns() {
		return nil, &ForeignError{Path: pending, Err: errNotOurs}
	}
	r.finish() // nothing was changed yet, or everything
	return nil, nil
}

// isFolder reports whether name is a folder and no link to one.
func (r *run) isFolder(name string) bool {
	info, err := r.root().Lstat(filepath.FromSlash(name))
	return err == nil && info.IsDir()
}

// owns reports whether a pending folder without a journal is this user's. The owner's file, perhaps cut short, is
// written before all other files and removed after them.
func (r *run) owns() bool {
	entries, err := r.entries()
	if err != nil {
		return false
	}
	if len(entries) == 0 {
		return true
	}
	info, err := r.root().Lstat(filepath.FromSlash(ownerFile))
	if err != nil || !info.Mode().IsRegular() || info.Size() > int64(len(r.owner())) {
		return false
	}
	data, err := r.root().ReadFile(filepath.FromSlash(ownerFile))
	return err == nil && strings.HasPrefix(r.owner(), string(data)) && (len(entries) == 1 || string(data) == r.owner())
}

func (r *run) owner() string { return r.key.sum("owner", r.identity, nil) }

// rollback restores every file that the run changed, and ends the run.
func (r *run) rollback() (restored []string, err error) {
	var errs []error
	for i := range slices.Backward(r.journal.Files) {
		done, err := r.restore(i)
		if err != nil {
			errs = append(errs, &FileError{Path: r.journal.Files[i].Path, Write: true, Err: err})
		}
		if done {
			restored = append(restored, cmp.Or(r.journal.Files[i].From, r.journal.Files[i].Path))
		}
	}
	if len(errs) > 0 {
		return restored, errors.Join(errs...)
	}
	r.removeDirs()
	if err := r.disk.Remove(r.root(), journalFile); err != nil {
		return restored, &FileError{Path: journalFile, Write: true, Err: err}
	}
	r.clear()
	slices.Sort(restored)
	return restored, nil
}

// restore restores a file if it is still as the run left it. What others wrote since then stays, and a link that others
// put there is not followed.
func (r *run) restore(i int) (done bool, err error) {
	e := r.journal.Files[i]
	if r.linked(e.Target) || e.Source != "" && r.linked(e.Source) {
		return false, nil
	}
	now, err := r.state(e.Target)
	if err != nil || now != e.After || e.Before == e.After {
		return false, err
	}
	switch {
	case e.From != "":
		return r.moveBack(e.Target, e.Source)
	case e.Before == "":
		return true, r.disk.Remove(r.root(), e.Target)
	case e.After == "":
		if _, err := r.root().Lstat(filepath.FromSlash(kept(i, "old"))); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err := r.checkKept(i); err != nil {
			return false, err
		}
		return r.moveBack(kept(i, "old"), e.Target)
	}
	if err := r.checkKept(i); err != nil {
		return false, err
	}
	return true, r.move(kept(i, "old"), e.Target)
}

// linked reports whether a name has become a link, or leads out of the folder.
func (r *run) linked(name string) bool {
	at, err := r.folder.Resolve(name)
	return err == nil && at != name || outside(err)
}

// checkKept verifies the backup's content and restores its permissions.
func (r *run) checkKept(i int) error {
	e, name := r.journal.Files[i], filepath.FromSlash(kept(i, "old"))
	now, err := r.state(kept(i, "old"))
	if err != nil {
		return err
	}
	if now != e.Before {
		return errNotKept
	}
	info, err := r.root().Lstat(name)
	if err != nil || info.Mode().Perm() == e.Mode {
		return err
	}
	return r.root().Chmod(name, e.Mode)
}

var errNotKept = errors.New("its saved content is damaged")

// moveBack reverts a move, unless others have since removed the file or put another one in its old place.
func (r *run) moveBack(from, to string) (done bool, err error) {
	if _, err := r.root().Lstat(filepath.FromSlash(from)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if _, err := r.root().Lstat(filepath.FromSlash(to)); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, r.moveAway(from, to)
}
