package plan

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/transaction"
)

// A Replaced is a file as it was before something that follows from a plan, such as generating, wrote it.
type Replaced struct {
	Path    string // relative to the project, with slashes
	Existed bool
	Before  []byte
}

// TakeBack makes the project what it was before [Plan.Apply], for when what follows from the plan fails. Files that
// others wrote get their earlier content, too: those of before were written before the plan was made, and those of
// after followed from it. It changes all files or none: a file that was changed since the plan was applied is an
// error, and everything stays.
func (p *Plan) TakeBack(before, after []Replaced) error {
	var was []Replaced
	is := map[string]File{} // of files that the plan alone wrote
	was = append(was, before...)
	for _, c := range p.changes {
		if c.writes() {
			was = append(was, Replaced{Path: c.path, Existed: c.exists, Before: c.before})
			is[c.path] = File{exists: c.There(), before: c.after}
		}
	}
	for _, r := range after {
		delete(is, r.Path)
	}
	var files []transaction.File
	seen := map[string]bool{}
	for _, r := range append(was, after...) {
		if seen[r.Path] {
			continue
		}
		seen[r.Path] = true
		now, known := is[r.Path]
		if !known {
			var err error
			if now, err = p.onDisk(r.Path); err != nil {
				return err
			}
		}
		files = p.restore(files, now, r)
	}
	if err := transaction.Run(transaction.OS{}, p.Root(), p.key(report.Discard), files); err != nil {
		return p.failure(err)
	}
	return nil
}

// restore adds what makes a file as it is the file that it was, unless it is that.
func (p *Plan) restore(files []transaction.File, is File, was Replaced) []transaction.File {
	if is.exists == was.Existed && bytes.Equal(is.before, was.Before) {
		return files
	}
	return append(files, transaction.File{
		Path: was.Path, Exists: is.exists, Before: is.before, After: was.Before, Delete: !was.Existed, Mode: p.modes[was.Path],
	})
}

// onDisk is a file as it is now.
func (p *Plan) onDisk(path string) (File, error) {
	data, err := safefs.ReadFile(filepath.Join(p.Root(), filepath.FromSlash(path)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return File{}, fileerror.Unreadable(path, err)
	}
	return File{exists: err == nil, before: data}, nil
}

// noteModes remembers the permissions of files that go, for when they come back.
func (p *Plan) noteModes() {
	p.modes = map[string]fs.FileMode{}
	for _, c := range p.changes {
		if c.action != report.Deleted {
			continue
		}
		if info, err := os.Stat(filepath.Join(p.Root(), filepath.FromSlash(c.path))); err == nil {
			p.modes[c.path] = info.Mode().Perm()
		}
	}
}
