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

// Interrupted reports whether a run in the folder did not end, or something looks like one.
func Interrupted(root string) bool {
	_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(pending)))
	return err == nil
}

// Recover takes back what a killed run has left, and returns the paths of the files that are again as they were before
// it. Anything that is not sealed with the key is a [ForeignError].
func Recover(disk Disk, root string, key Key) (restored []string, err error) {
	r, err := open(disk, root, key)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if !Interrupted(root) {
		if r.isFolder(own) {
			_ = disk.Remove(r.root(), own) // of a run that made it; stays unless it is empty
		}
		return nil, nil
	}
	if !r.isFolder(own) || !r.isFolder(pending) {
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

// isFolder tells whether a folder, and no link to one, is there.
func (r *run) isFolder(name string) bool {
	info, err := r.root().Lstat(filepath.FromSlash(name))
	return err == nil && info.IsDir()
}

// owns tells whether what is there without a journal is ours: the owner's file, or as much of it as was written, is
// there before anything else and goes after everything else.
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

// owner is what the owner's file holds.
func (r *run) owner() string { return r.key.sum("owner", r.identity, nil) }

// rollback restores every file that the run has changed, and ends the run.
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

// restore gives a file the content that it had, if it is as the run made it: what
// somebody wrote since then stays, and so does what is behind a link that somebody put there.
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

// linked tells whether a name leads elsewhere by now.
func (r *run) linked(name string) bool {
	at, err := r.folder.Resolve(name)
	return err == nil && at != name || outside(err)
}

// checkKept makes sure that what is kept for a file is what it held, with the mode that it had.
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

// errNotKept is why a file cannot be restored.
var errNotKept = errors.New("its saved content is damaged")

// moveBack takes a move back, unless somebody has removed the file since, or put another one where it was.
func (r *run) moveBack(from, to string) (done bool, err error) {
	if _, err := r.root().Lstat(filepath.FromSlash(from)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if _, err := r.root().Lstat(filepath.FromSlash(to)); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, r.moveAway(from, to)
}
