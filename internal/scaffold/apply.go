package scaffold

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
)

// Apply writes the plan and tells h of each file. Either every file is written or,
// when one of them cannot be, the folder is left as it was. A file that was changed
// since it was planned is refused.
func (p *Plan) Apply(h report.Handler) error {
	t := &transaction{root: p.root}
	for _, c := range p.changes {
		if !c.writes() {
			continue
		}
		if err := t.stage(c); err != nil {
			return t.undo(err)
		}
	}
	if err := t.verify(); err != nil {
		return t.undo(err)
	}
	if err := t.commit(); err != nil {
		return t.undo(err)
	}
	for _, file := range p.Changes() {
		h.Handle(file)
	}
	return t.clear()
}

// A transaction writes files beside their places first and renames them into place
// when all are written.
type transaction struct {
	root   string
	staged []stagedFile
	dirs   []string // folders that it made, outermost first
	done   int      // files renamed so far
}

// A stagedFile is a change with its new content in temp or, for a deletion, nothing
// in temp, where the file goes until all is done.
type stagedFile struct {
	*change
	path, temp string // full paths
	mode       fs.FileMode
}

// stage writes the new content of one file to a temporary file in the same folder.
func (t *transaction) stage(c *change) error {
	s := stagedFile{change: c, path: filepath.Join(t.root, filepath.FromSlash(c.path)), mode: 0o644}
	if err := s.checkUnchanged(); err != nil {
		return err
	}
	if c.action == report.Deleted {
		return t.stageDeletion(s)
	}
	if c.from != "" {
		if info, err := os.Stat(filepath.Join(t.root, filepath.FromSlash(c.from))); err == nil {
			s.mode = info.Mode().Perm()
		}
	}
	if info, err := os.Stat(s.path); err == nil {
		s.mode = info.Mode().Perm()
		if s.path, err = filepath.EvalSymlinks(s.path); err != nil { // a link stays a link
			return unwritable(c.path, err)
		}
	}
	if err := t.makeDirs(filepath.Dir(s.path)); err != nil {
		return unwritable(c.path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), ".slipway-*")
	if err != nil {
		return unwritable(c.path, err)
	}
	s.temp = f.Name()
	t.staged = append(t.staged, s)
	_, err = f.Write(c.after)
	if err := errors.Join(err, f.Chmod(s.mode), f.Close()); err != nil {
		return unwritable(c.path, err)
	}
	return nil
}

// stageDeletion finds a name beside a file for it to have until all is done.
func (t *transaction) stageDeletion(s stagedFile) error {
	f, err := os.CreateTemp(filepath.Dir(s.path), ".slipway-*")
	if err != nil {
		return unwritable(s.change.path, err)
	}
	s.temp = f.Name()
	t.staged = append(t.staged, s)
	if err := f.Close(); err != nil {
		return unwritable(s.change.path, err)
	}
	return nil
}

// checkUnchanged refuses a file that someone else changed after it was planned.
func (s stagedFile) checkUnchanged() error {
	data, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable(s.change.path, err)
	}
	if (err == nil) == s.exists && bytes.Equal(data, s.before) {
		return nil
	}
	return &report.Error{
		What:  "the file was changed by someone else in the meantime",
		Where: s.change.path,
		Hint:  "nothing was written; run the command again",
	}
}

// makeDirs makes dir and what is missing above it, and remembers them.
func (t *transaction) makeDirs(dir string) error {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || filepath.Dir(d) == d {
			break
		}
		missing = append(missing, d)
	}
	err := os.MkdirAll(dir, 0o755)
	for i := len(missing) - 1; i >= 0; i-- {
		if _, err := os.Stat(missing[i]); err == nil {
			t.dirs = append(t.dirs, missing[i])
		}
	}
	return err
}

// verify refuses files that someone else changed while others were staged, such as
// another call of the command.
func (t *transaction) verify() error {
	for _, s := range t.staged {
		if err := s.checkUnchanged(); err != nil {
			return err
		}
	}
	return nil
}

// commit renames the staged files into place, and those to delete out of it.
func (t *transaction) commit() error {
	for _, s := range t.staged {
		from, to := s.temp, s.path
		if s.action == report.Deleted {
			from, to = to, from
		}
		if err := os.Rename(from, to); err != nil {
			return unreadable(s.change.path, err)
		}
		t.done++
	}
	return nil
}

// clear removes what commit renamed out of its place, and the folders that are empty
// then. Everything is done by now: a folder that stays does no harm.
func (t *transaction) clear() error {
	var errs []error
	for _, s := range t.staged {
		if s.action != report.Deleted {
			continue
		}
		if err := os.Remove(s.temp); err != nil {
			errs = append(errs, unwritable(s.change.path, err))
		}
		for dir := filepath.Dir(s.path); dir != filepath.Clean(t.root) && os.Remove(dir) == nil; {
			dir = filepath.Dir(dir)
		}
	}
	return errors.Join(errs...)
}

// undo takes everything back and returns cause, or, where that fails too, what is left.
func (t *transaction) undo(cause error) error {
	err := t.rollback()
	if err == nil {
		return cause
	}
	return &report.Error{
		What:  "not every file could be written, nor the written ones be taken back",
		Where: t.root,
		Hint:  "some files are new and some are old",
		Next:  "git status",
		Err:   errors.Join(cause, err),
	}
}

// rollback restores what was there before: files that were replaced, files that
// were not there, folders that were made.
func (t *transaction) rollback() error {
	var errs []error
	for i, s := range t.staged {
		switch {
		case i >= t.done:
			errs = append(errs, os.Remove(s.temp))
		case s.action == report.Deleted:
			errs = append(errs, os.Rename(s.temp, s.path))
		case s.exists:
			errs = append(errs, os.WriteFile(s.path, s.before, s.mode))
		default:
			errs = append(errs, os.Remove(s.path))
		}
	}
	for i := len(t.dirs) - 1; i >= 0; i-- {
		errs = append(errs, os.Remove(t.dirs[i]))
	}
	return errors.Join(errs...)
}
