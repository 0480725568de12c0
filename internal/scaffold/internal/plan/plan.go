// Package plan decides what happens to a project's files before the first byte is written.
//
// A verb starts a [Plan] with [New], reads files with Find and plans changes with the other methods. Create plans a
// file that the user owns from then on, and Require one that several parts share. Insert plans pieces of a file and of
// its merge base. A change that cannot be made is refused, and Finish returns all refusals as one error. Then Changes
// and Differences list what Apply would do, and Apply writes all files or none.
//
//	p, err := plan.New(fileview.Disk(root))
//	err = p.Require("config/samples/kustomization.yaml", content)
//	err = p.Insert("cmd/main.go", plan.These(piece.Import{Path: "os"}))
//	err = p.Finish()
//	err = p.Apply(handler)
//
// A plan that records ([Plan.Record]) changes nothing and notes in [Needs] what a verb would create. So undoing a verb
// needs no list of what it made.
//
// [base.Base] keeps all scaffolded text as it was before anyone edited it.
package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// A Plan is a set of file changes that is decided and not yet written. Use [New] to create one.
type Plan struct {
	changes []*File
	known   map[string]*File // the changes by their paths
	base    *base.Base
	refused []*report.Error
	because string                 // why the plan changes nothing
	left    []string               // for the user to do; see [Plan.Left]
	needs   *Needs                 // set in a plan that only records; see [Plan.Record]
	release string                 // see MadeBy
	keys    string                 // the folder of the user's key
	modes   map[string]fs.FileMode // permissions of deleted files; see [Plan.TakeBack]
	folder  *fileview.Folder       // the files before the first change
	code    *codebase.Codebase     // facts about these files
}

// New starts a plan for the project in a folder and reads its base.
func New(folder *fileview.Folder) (*Plan, error) {
	b, err := base.Read(folder)
	if err != nil {
		return nil, err
	}
	return start(folder, b), nil
}

// Reading starts a plan for callers that only read files. It skips the base, which takes time to read, and must not be
// applied.
func Reading(folder *fileview.Folder) *Plan { return start(folder, base.New()) }

func start(folder *fileview.Folder, b *base.Base) *Plan {
	return &Plan{base: b, folder: folder, code: codebase.Read(folder, os.Getenv)}
}

// Changes lists what Apply would do, in the order of planning.
func (p *Plan) Changes() []report.File {
	var files []report.File
	for _, c := range p.reportedChanges() {
		files = append(files, report.File{Path: c.path, Action: p.actionOn(c), From: p.movedFrom(c), Why: c.why})
	}
	return files
}

// Empty reports whether Apply would write nothing.
func (p *Plan) Empty() bool {
	return !slices.ContainsFunc(p.changes, (*File).writes)
}

// NothingToDo discards all changes and records the reason.
func (p *Plan) NothingToDo(because string) {
	p.changes, p.known, p.refused, p.left, p.because = nil, nil, nil, nil, because
}

// Code reads facts about the project as it was before the plan, or at the last [Plan.Proceed].
func (p *Plan) Code() *codebase.Codebase { return p.code }

// Proceed makes Code read facts about the project as it is planned so far. What is planned after that adds to these
// files as to files that exist.
func (p *Plan) Proceed() {
	p.code = p.After()
	for _, c := range p.changes {
		c.earlier = true
	}
}

// Root is the project's folder.
func (p *Plan) Root() string { return p.folder.Root() }

// Before reads the project's files as they were before the plan.
func (p *Plan) Before() *fileview.Folder { return p.folder }

// Base is the project's base as it will be once the plan is applied.
func (p *Plan) Base() *base.Base { return p.base }

// Because explains why there is nothing to do, such as "the project has … already"; "" if there is something to do, or
// the reason is unknown.
func (p *Plan) Because() string { return p.because }

// Find returns the planned state of a file. A file that the plan does not change is as it was when it was first read.
func (p *Plan) Find(file string) (*File, error) {
	if c := p.known[file]; c != nil {
		return c, nil
	}
	c := &File{path: file, action: report.Unchanged}
	data, err := p.folder.ReadFile(path.Clean(file))
	switch {
	case err == nil:
		c.exists, c.before, c.after = true, data, data
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fileerror.Unreadable(file, err)
	}
	return c, nil
}

// Exists reports whether a file exists once the plan is applied.
func (p *Plan) Exists(path string) (bool, error) {
	c, err := p.Find(path)
	if err != nil {
		return false, err
	}
	return c.There(), nil
}

// Create plans a new file and records it in the base. An existing file stays as it is. A Go file gets the package name
// of its folder.
func (p *Plan) Create(path string, content []byte) error {
	content = p.joining(path, content)
	if p.needs != nil {
		p.needs.addFile(path, content)
		return nil
	}
	c, err := p.Find(path)
	if err != nil {
		return err
	}
	switch {
	case c.earlier && c.There():
		return nil
	case c.action == report.Created, c.movedTo != "":
		return fmt.Errorf("plan %s: created twice, or moved and created", path)
	case c.action == report.Deleted: // a part goes and comes again
		c.set(content)
		p.base.Set(path, content)
	case !c.exists:
		c.after, c.action = content, report.Created
		p.base.Set(path, content)
	case bytes.Equal(c.after, content):
		p.base.Set(path, content)
	default:
		c.action, c.why = report.Kept, "it existed already"
	}
	p.track(c)
	return nil
}

// Write plans a file that slipway itself keeps up to date, such as PROJECT. It has no merge base.
func (p *Plan) Write(path string, content []byte) error {
	c, err := p.Find(path)
	if err != nil {
		return err
	}
	c.set(content)
	p.track(c)
	return nil
}

// Remove plans the deletion of a file, and deletes it from the base. A missing file is no error.
func (p *Plan) Remove(path string) error {
	c, err := p.Find(path)
	if err != nil {
		return err
	}
	p.base.Remove(path)
	if c.exists {
		c.after, c.action, c.why = nil, report.Deleted, ""
		p.track(c)
	}
	return nil
}

// Move plans another path for a file, in the base too. It refuses a path that exists. The file can be edited under its
// new path. The reason of an earlier [Plan.Keep] goes with it.
func (p *Plan) Move(from, to string) error {
	if err := p.Copy(from, to); err != nil {
		return err
	}
	old, err := p.Find(from)
	if err != nil {
		return err
	}
	why := old.why
	if err := p.Remove(from); err != nil {
		return err
	}
	if old, err = p.Find(from); err != nil {
		return err
	}
	old.movedTo = to
	c, err := p.Find(to)
	if err == nil {
		c.why = why
	}
	return err
}

// Copy plans a second file with the present content, mode and base of another. It refuses a path that exists.
func (p *Plan) Copy(from, to string) error {
	old, err := p.Find(from)
	if err != nil {
		return err
	}
	c, err := p.Find(to)
	if err != nil {
		return err
	}
	if c.There() {
		p.refused = append(p.refused, &report.Error{
			Class: report.Conflict,
			What:  "there is a file in the place that " + from + " would move to", Where: to,
			Hint: "nothing was changed; move it away or remove it, and run the command again",
		})
		return nil
	}
	c.after, c.action, c.why, c.from = old.after, report.Created, "copied from "+from, from
	p.track(c)
	if scaffolded, ok := p.base.File(from); ok {
		p.base.Set(to, scaffolded)
	}
	return nil
}

// Edit plans a change to an existing file and to its merge base. A refused edit leaves the plan as it is; see
// [Plan.Refusal]. Text that undoing must be able to remove needs [Plan.Insert].
func (p *Plan) Edit(path string, change func(path string, src []byte) ([]byte, error)) error {
	return p.edit(path, change, func(path string, src []byte) ([][]byte, error) {
		out, err := change(path, src)
		return [][]byte{out}, err
	})
}

// InsertIfPlaced is [Plan.Insert] for pieces that the project works without, such as a sample's line in a list. A file
// without a place for them stays as it is, and [Plan.Left] lists the lines to add by hand.
func (p *Plan) InsertIfPlaced(path string, of Pieces, lines string) error {
	refusals := len(p.refused)
	if err := p.Insert(path, of); err != nil {
		return err
	}
	for _, refusal := range p.refused[refusals:] {
		p.left = append(p.left, fmt.Sprintf("%s: %s; add by hand:\n%s", refusal.Where, refusal.What, strings.TrimSuffix(lines, "\n")))
	}
	p.refused = p.refused[:refusals]
	return nil
}

// Leave adds an entry to [Plan.Left], unless the plan only records.
func (p *Plan) Leave(text string) {
	if p.needs == nil {
		p.left = append(p.left, text)
	}
}

// Left lists what the plan leaves to the user: the place, the reason, and the lines to add.
func (p *Plan) Left() []string { return p.left }

// edit is [Plan.Edit] with another change for the merge base, in steps.
func (p *Plan) edit(path string, change func(path string, src []byte) ([]byte, error), inBase func(path string, src []byte) ([][]byte, error)) error {
	if p.needs != nil {
		return nil
	}
	c, err := p.Find(path)
	if err != nil {
		return err
	}
	after, err := change(path, c.after)
	var refusal *report.Error
	if errors.As(err, &refusal) {
		if !c.There() {
			refusal.What, refusal.Where = "the file is missing", path
		}
		p.refused = append(p.refused, refusal)
		return nil
	}
	if err != nil {
		return err
	}
	if refusal := gofile.Unparsable(path, c.after, after); refusal != nil {
		p.refused = append(p.refused, refusal)
		return nil
	}
	c.set(after)
	p.track(c)
	if old, ok := p.base.File(path); ok {
		// The base has every insertion point that was scaffolded. If the change fails there, the base stays as it is,
		// and a later merge is larger.
		if steps, err := inBase(path, old); err == nil {
			for _, step := range steps {
				p.base.Set(path, step)
			}
		}
	}
	return nil
}

// Keep reports that the user's version of a file stays, in whole or in part.
func (p *Plan) Keep(path, why string) error {
	c, err := p.Find(path)
	if err != nil {
		return err
	}
	if c.action == report.Unchanged {
		c.action = report.Kept
	}
	c.why = why
	p.track(c)
	return nil
}

func (p *Plan) track(c *File) {
	if p.needs != nil {
		return
	}
	if p.known[c.path] == c {
		return
	}
	if p.known == nil {
		p.known = map[string]*File{}
	}
	p.known[c.path] = c
	p.changes = append(p.changes, c)
}

// Refuse adds a refusal. The plan cannot be applied then.
func (p *Plan) Refuse(e *report.Error) { p.refused = append(p.refused, e) }

// Refused reports whether a change was refused; see [Plan.Refusal].
func (p *Plan) Refused() bool { return len(p.refused) > 0 }

// Refusal returns all refusals as one error, or nil: the first with its place, the others in the hint.
func (p *Plan) Refusal() error {
	if len(p.refused) == 0 {
		return nil
	}
	all := *p.refused[0]
	for _, e := range p.refused[1:] {
		all.Hint += fmt.Sprintf("\n%s: %s; %s", e.Where, e.What, e.Hint)
	}
	return &all
}

// Finish completes the plan with the base. A plan that changes no other file leaves the base as it is.
func (p *Plan) Finish() error {
	if err := p.Refusal(); err != nil {
		return err
	}
	if p.Empty() {
		return nil
	}
	return p.FinishBase()
}

// FinishBase is [Plan.Finish] for verbs whose result is the base: it writes the base even if no other file changes.
func (p *Plan) FinishBase() error {
	if err := p.Refusal(); err != nil {
		return err
	}
	if !p.base.Changed() && (!p.base.Stale() || p.Empty()) {
		return nil
	}
	if p.base.Empty() {
		return p.removeBase()
	}
	if err := p.Write(base.Path, p.base.Encode()); err != nil {
		return err
	}
	there, err := p.Exists(base.AttributesPath)
	if err != nil || there { // the user's attributes stay
		return err
	}
	return p.Write(base.AttributesPath, []byte(base.Attributes))
}

// removeBase plans the deletion of an empty base, and of its attributes unless the user changed them.
func (p *Plan) removeBase() error {
	attributes, err := p.Find(base.AttributesPath)
	if err != nil {
		return err
	}
	if string(attributes.After()) == base.Attributes {
		if err := p.Remove(base.AttributesPath); err != nil {
			return err
		}
	}
	return p.Remove(base.Path)
}
