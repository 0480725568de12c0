package transaction

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
)

// Interrupted reports whether a run in the folder did not end.
func Interrupted(root string) bool {
	_, err := os.Lstat((&run{root: root}).full(pending))
	return err == nil
}

// Recover takes back what a run has left that was killed, and returns the paths of the
// files that are again as they were before it.
func Recover(disk Disk, root string) (restored []string, err error) {
	r := &run{disk: disk, root: root}
	if !Interrupted(root) {
		_ = disk.Remove(r.full(own)) // of a run that made it; stays unless it is empty
		return nil, nil
	}
	var there bool
	if r.journal, there, err = readJournal(root, journalFile); err != nil {
		return nil, err
	}
	if there {
		return r.rollback()
	}
	if r.journal, _, err = readJournal(root, doneFile); err != nil {
		return nil, err
	}
	r.finish() // nothing was changed yet, or everything
	return nil, nil
}

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
	if err := r.disk.Remove(r.full(journalFile)); err != nil {
		return restored, &FileError{Path: journalFile, Write: true, Err: err}
	}
	r.clear()
	slices.Sort(restored)
	return restored, nil
}

// restore gives a file the content that it had, if it is as the run made it: what
// somebody wrote since then stays.
func (r *run) restore(i int) (done bool, err error) {
	e, target := r.journal.Files[i], r.journal.target(r.root, i)
	now, err := state(target)
	if err != nil || now != e.After || e.Before == e.After {
		return false, err
	}
	switch {
	case e.From != "":
		return r.moveBack(target, r.full(e.From))
	case e.Before == "":
		return true, r.disk.Remove(target)
	case e.After == "":
		return r.moveBack(r.kept(i, "old"), target)
	}
	return true, r.move(r.kept(i, "old"), target)
}

// moveBack takes a move back, unless somebody has removed the file since, or put another one where it was.
func (r *run) moveBack(from, to string) (done bool, err error) {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, r.moveAway(from, to)
}
