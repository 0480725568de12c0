package plan

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/transaction"
)

// Apply writes the plan and reports each file to h. It writes every file or, if one cannot be written, leaves the
// folder as it was; see package transaction. It refuses a file that changed since it was planned.
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

// SealWith names the folder of the user's key. With it, a later command can revert the plan if this one is killed.
func (p *Plan) SealWith(keys string) { p.keys = keys }

// key returns the key that seals the transaction. Without one, only this process can revert it.
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

// mode returns the permissions that a moved file keeps, or 0, the default, for other new files.
func (p *Plan) mode(c *File) fs.FileMode {
	if c.from == "" {
		return 0
	}
	info, err := os.Stat(filepath.Join(p.Root(), filepath.FromSlash(c.from)))
	if err != nil {
		return 0 // the transaction reports it
	}
	return info.Mode().Perm()
}

// failure explains to the user why the plan was not applied.
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
			Class: report.Conflict,
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

// A Difference is what a plan would do to one file.
type Difference struct {
	Path   string        `json:"path"`
	Action report.Action `json:"action"`
	From   string        `json:"from,omitempty"` // the old path of a moved file
	Why    string        `json:"why,omitempty"`
	Diff   string        `json:"diff,omitempty"` // unified, for patch and git apply; "" for .slipway/base
}

// Differences lists what Apply would do, in its order. Diff is set only if diffs is.
func (p *Plan) Differences(diffs bool) []Difference {
	var differences []Difference
	for _, c := range p.reportedChanges() {
		d := Difference{Path: c.path, Action: p.actionOn(c), From: p.movedFrom(c), Why: c.why}
		switch {
		case !diffs || !c.writes() || c.path == base.Path:
		case d.From != "":
			d.Diff = p.known[d.From].moved(c)
		default:
			d.Diff = c.diff()
		}
		differences = append(differences, d)
	}
	return differences
}

// After reads facts about the project as the plan leaves it so far.
func (p *Plan) After() *codebase.Codebase {
	return p.code.As(fileview.Over(p.folder, p.Changed()))
}

// Changed returns the contents of the files that the plan changes, by path; nil is a file that it deletes.
func (p *Plan) Changed() map[string][]byte {
	changed := map[string][]byte{}
	for name, c := range p.known {
		switch {
		case !c.There():
			changed[name] = nil
		case !c.exists || !bytes.Equal(c.before, c.after):
			changed[name] = append([]byte{}, c.after...)
		}
	}
	return changed
}

// ConfigChange returns what the plan changes in the project's kustomizations.
func (p *Plan) ConfigChange() (*codebase.ConfigChange, error) {
	changed := map[string]bool{}
	for _, f := range p.Changes() {
		if f.Action != report.Kept && f.Action != report.Unchanged {
			changed[f.Path], changed[f.From] = true, true
		}
	}
	delete(changed, "")
	return p.code.ConfigAfter(p.After(), changed)
}
