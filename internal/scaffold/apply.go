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
	return nil
}

// A transaction writes files beside their places first and renames them into place
// when all are written.
type transaction struct {
	root   string
	staged []stagedFile
	dirs   []string // folders that it made, outermost first
	done   int      // files renamed so far
}

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

// commit renames the staged files into place.
func (t *transaction) commit() error {
	for _, s := range t.staged {
		if err := os.Rename(s.temp, s.path); err != nil {
			return unreadable(s.change.path, err)
		}
		t.done++
	}
	return nil
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
