package transaction

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// own is the folder in which the tool keeps what belongs to it, and pending the one below
// it that is there while a run is.
const (
	own     = ".slipway"
	pending = own + "/pending"
)

// A File is one change. Paths use slashes and are relative to the folder.
type File struct {
	Path   string
	Exists bool
	Before []byte // content at the time of planning
	After  []byte
	Delete bool
	Mode   fs.FileMode // of a new file; 0 is 0644. One that is there keeps its own.
	// From is where a file is that is renamed to Path, where nothing is; Before is its content, and
	// stays it.
	From string
}

// Run makes all changes or none. Folders that are empty after a deletion go with it.
func Run(disk Disk, root string, files []File) error {
	if len(files) == 0 {
		return nil
	}
	r := &run{disk: disk, root: root}
	if err := r.prepare(files); err != nil {
		return r.abandon(err)
	}
	if err := r.commit(files); err != nil {
		if _, stuck := r.rollback(); stuck != nil {
			return &StuckError{Cause: err, Err: stuck}
		}
		return err
	}
	r.finish()
	return nil
}

// run is one run, or what is left of one.
type run struct {
	disk    Disk
	root    string
	journal journal
}

func (r *run) full(slashed string) string {
	return filepath.Join(r.root, filepath.FromSlash(slashed))
}

// kept is the name of what is kept for the i-th file: its new or its old content.
func (r *run) kept(i int, what string) string {
	return filepath.Join(r.full(pending), strconv.Itoa(i)+"."+what)
}

// prepare writes what the run needs beside the files, and the journal last.
func (r *run) prepare(files []File) error {
	if err := r.makePending(); err != nil {
		return err
	}
	for i, f := range files {
		if err := r.stage(i, f); err != nil {
			return err
		}
	}
	for i, f := range files { // again: staging took its time
		check := func() error { return checkUnchanged(r.journal.target(r.root, i), f) }
		if f.From != "" {
			check = func() error { return checkMove(r.root, f) }
		}
		if err := check(); err != nil {
			return err
		}
	}
	if err := r.journal.write(r.disk, r.root); err != nil {
		return &FileError{Path: pending, Write: true, Err: err}
	}
	return nil
}

func (r *run) makePending() error {
	for _, dir := range []string{own, pending} {
		err := r.disk.Mkdir(r.full(dir))
		if err != nil && (dir == pending || !errors.Is(err, fs.ErrExist)) {
			return &FileError{Path: dir, Write: true, Err: err}
		}
		if err == nil && dir == own {
			r.journal.Dirs = append(r.journal.Dirs, own)
		}
	}
	return nil
}

// stage writes the new content of a file, and a copy of the old one, beside the journal.
func (r *run) stage(i int, f File) error {
	if f.From != "" {
		return r.stageMove(f)
	}
	target := r.full(f.Path)
	mode := f.Mode
	if mode == 0 {
		mode = 0o644
	}
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
		if target, err = filepath.EvalSymlinks(target); err != nil { // a link stays a link
			return &FileError{Path: f.Path, Write: true, Err: err}
		}
	}
	if err := checkUnchanged(target, f); err != nil {
		return err
	}
	r.journal.add(r.root, target, f)
	if !f.Delete {
		if err := r.disk.WriteFile(r.kept(i, "new"), f.After, mode); err != nil {
			return &FileError{Path: f.Path, Write: true, Err: err}
		}
	}
	if f.Exists && !f.Delete { // what is deleted is kept by moving it away
		if err := r.disk.WriteFile(r.kept(i, "old"), f.Before, mode); err != nil {
			return &FileError{Path: f.Path, Write: true, Err: err}
		}
	}
	return nil
}

// stageMove writes nothing: the file itself is what is kept.
func (r *run) stageMove(f File) error {
	if err := checkMove(r.root, f); err != nil {
		return err
	}
	r.journal.addMove(r.root, f)
	return nil
}

// checkMove refuses a file that is not as it was when its move was planned, and a place that is taken.
func checkMove(root string, f File) error {
	from := File{Path: f.From, Exists: true, Before: f.Before}
	if err := checkUnchanged(filepath.Join(root, filepath.FromSlash(f.From)), from); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(f.Path))); !errors.Is(err, fs.ErrNotExist) {
		return &ChangedError{Path: f.Path}
	}
	return nil
}

// checkUnchanged refuses a file that is not as it was when it was planned.
func checkUnchanged(target string, f File) error {
	data, err := os.ReadFile(target)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &FileError{Path: f.Path, Err: err}
	}
	if (err == nil) != f.Exists || !bytes.Equal(data, f.Before) {
		return &ChangedError{Path: f.Path}
	}
	return nil
}

// commit makes the changes; giving the journal another name makes them final.
func (r *run) commit(files []File) error {
	for _, dir := range r.journal.Dirs {
		if err := r.disk.Mkdir(r.full(dir)); err != nil && !errors.Is(err, fs.ErrExist) {
			return &FileError{Path: dir, Write: true, Err: err}
		}
	}
	for i, f := range files {
		if err := r.place(i, f); err != nil {
			return &FileError{Path: f.Path, Write: true, Err: err}
		}
	}
	if err := r.disk.Rename(r.full(journalFile), r.full(doneFile)); err != nil {
		return &FileError{Path: journalFile, Write: true, Err: err}
	}
	return nil
}

func (r *run) place(i int, f File) error {
	target := r.journal.target(r.root, i)
	switch {
	case f.From != "":
		return r.moveAway(r.full(f.From), target)
	case f.Delete:
		return r.moveAway(target, r.kept(i, "old"))
	}
	return r.move(r.kept(i, "new"), target)
}

// moveAway is a move that leaves nothing behind, also when it is to another disk.
func (r *run) moveAway(from, to string) error {
	if err := r.move(from, to); err != nil {
		return err
	}
	if _, err := os.Lstat(from); err == nil {
		return r.disk.Remove(from)
	}
	return nil
}

// move renames a file, also to another disk, which a symbolic link may lead to.
func (r *run) move(from, to string) error {
	err := r.disk.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	beside := to + ".slipway"
	if err := r.disk.WriteFile(beside, data, info.Mode().Perm()); err != nil {
		return err
	}
	return r.disk.Rename(beside, to)
}

// abandon removes what prepare has written, and returns why.
func (r *run) abandon(cause error) error {
	if fe, ok := errors.AsType[*FileError](cause); ok && fe.Path == pending && errors.Is(cause, fs.ErrExist) {
		return cause // that of another run
	}
	r.clear()
	r.removeDirs()
	return cause
}

// clear removes the folder of the run. What cannot be removed does no harm without a
// journal: the next Recover tries again.
func (r *run) clear() {
	entries, err := os.ReadDir(r.full(pending))
	if err != nil {
		return
	}
	for _, e := range entries {
		_ = r.disk.Remove(filepath.Join(r.full(pending), e.Name()))
	}
	_ = r.disk.Remove(r.full(pending))
	_ = r.disk.Remove(r.full(own)) // stays unless it is empty
}

// removeDirs removes the folders that the run made, the innermost first; those that
// hold something by now stay.
func (r *run) removeDirs() {
	for _, dir := range slices.Backward(r.journal.Dirs) {
		_ = r.disk.Remove(r.full(dir))
	}
}

// finish clears up after a run that is final.
func (r *run) finish() {
	r.prune()
	r.clear()
}

// prune removes folders that are empty after deletions. One that stays does no harm.
func (r *run) prune() {
	for _, f := range r.journal.Files {
		gone := f.Path
		switch {
		case f.From != "":
			gone = f.From
		case f.After != "":
			continue
		}
		for dir := path.Dir(gone); dir != "." && r.pruned(dir); {
			dir = path.Dir(dir)
		}
	}
}

// pruned removes a folder if it is empty, and tells whether it is gone: a run that was killed here may have removed
// it, but not the one around it.
func (r *run) pruned(dir string) bool {
	err := r.disk.Remove(r.full(dir))
	return err == nil || errors.Is(err, fs.ErrNotExist)
}
