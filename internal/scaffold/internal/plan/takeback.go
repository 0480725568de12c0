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

// A Replaced is the earlier state of a file that something after the plan, such as generating, wrote.
type Replaced struct {
	Path    string // relative to the project, with slashes
	Existed bool
	Before  []byte
}

// TakeBack restores the project as it was before [Plan.Apply], if a step after it fails. It also restores files that
// others wrote: those of before preceded the plan, those of after followed it. It restores all files or none: if a file
// of the plan changed since, it fails and changes nothing.
func (p *Plan) TakeBack(before, after []Replaced) error {
	var was []Replaced
	is := map[string]File{} // files that only the plan wrote
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

// restore appends the change that restores a file, if it is needed.
func (p *Plan) restore(files []transaction.File, is File, was Replaced) []transaction.File {
	if is.exists == was.Existed && bytes.Equal(is.before, was.Before) {
		return files
	}
	return append(files, transaction.File{
		Path: was.Path, Exists: is.exists, Before: is.before, After: was.Before, Delete: !was.Existed, Mode: p.modes[was.Path],
	})
}

func (p *Plan) onDisk(path string) (File, error) {
	data, err := safefs.ReadFile(filepath.Join(p.Root(), filepath.FromSlash(path)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return File{}, fileerror.Unreadable(path, err)
	}
	return File{exists: err == nil, before: data}, nil
}

// noteModes records the permissions of files to delete, for [Plan.TakeBack].
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
