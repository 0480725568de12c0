package plan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/transaction"
)

// Apply writes the plan and reports h of each file. Either every file is written or,
// when one of them cannot be, the folder is left as it was; see package transaction. A
// file that was changed since it was planned is refused.
func (p *Plan) Apply(h report.Handler) error {
	p.noteModes()
	if err := transaction.Run(transaction.OS{}, p.Root(), p.key(h), p.files()); err != nil {
		return p.failure(err)
	}
	for _, file := range p.Changes() {
		h.Handle(file)
	}
	for _, left := range p.left {
		h.Handle(report.Warning{Text: left})
	}
	return nil
}

// SealWith has the plan applied in a way that a later command can take back, should this one be killed: the user's key
// in that folder says that it was one of his.
func (p *Plan) SealWith(keys string) { p.keys = keys }

// key seals what is applied; without one it can only be taken back by this process.
func (p *Plan) key(h report.Handler) transaction.Key {
	if p.keys == "" {
		return nil
	}
	key, err := transaction.ReadKey(p.keys)
	if err != nil {
		h.Handle(report.Note{Text: "if this command is killed, the next one cannot revert its changes: " + err.Error()})
	}
	return key
}

// files are the changes as a transaction takes them.
func (p *Plan) files() []transaction.File {
	var files []transaction.File
	renamed := map[*File]bool{}
	for _, c := range p.changes {
		if old := p.renamed(c); old != nil {
			renamed[old] = true
			files = append(files, transaction.File{Path: c.path, From: old.path, Before: old.before})
		}
	}
	for _, c := range p.changes {
		if !c.writes() || renamed[c] || p.renamed(c) != nil {
			continue
		}
		files = append(files, transaction.File{
			Path: c.path, Exists: c.exists, Before: c.before, After: c.after, Delete: c.action == report.Deleted, Mode: p.mode(c),
		})
	}
	return files
}

// mode is what a moved file keeps; other new files have the usual one.
func (p *Plan) mode(c *File) fs.FileMode {
	if c.from == "" {
		return 0
	}
	info, err := os.Stat(filepath.Join(p.Root(), filepath.FromSlash(c.from)))
	if err != nil {
		return 0 // told when the file is looked at
	}
	return info.Mode().Perm()
}

// failure is the error that its user sees when a plan was not applied.
func (p *Plan) failure(err error) error {
	if stuck, ok := errors.AsType[*transaction.StuckError](err); ok {
		return &report.Error{
			What:  "some files could not be written, and the written ones could not be restored",
			Where: p.Root(),
			Hint:  "some files are new and some are old; correct the cause, and the next command that changes the project restores them first",
			Next:  "git status",
			Err:   stuck,
		}
	}
	if changed, ok := errors.AsType[*transaction.ChangedError](err); ok {
		return &report.Error{
			What:  "another program changed the file in the meantime",
			Where: changed.Path,
			Hint:  "nothing was written; run the command again",
		}
	}
	if fe, ok := errors.AsType[*transaction.FileError](err); ok {
		if fe.Write {
			return fileerror.Unwritable(fe.Path, fe.Err)
		}
		return fileerror.Unreadable(fe.Path, fe.Err)
	}
	return err
}
