package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
)

// A Plan is a set of file changes that is decided and not yet written.
type Plan struct {
	root    string
	changes []*change
	base    *Base
	refused []*report.Error
	there   string // what is there already, of a plan that has nothing to do
	needs   *needs // set in a plan that only records; see recording
}

// A change is what is to become of one file. Paths use slashes and are relative to
// the project.
type change struct {
	path   string
	exists bool
	before []byte // content on disk when planned
	after  []byte
	action report.Action
	why    string
	from   string // where a moved file was
}

// newPlan starts a plan for the project in folder root, with the base as it is on
// disk.
func newPlan(root string) (*Plan, error) {
	if err := refuseInterrupted(root); err != nil {
		return nil, err
	}
	base, err := ReadBase(root)
	if err != nil {
		return nil, err
	}
	return &Plan{root: root, base: base}, nil
}

// Changes lists what Apply would do, in the order of planning.
func (p *Plan) Changes() []report.File {
	files := make([]report.File, len(p.changes))
	for i, c := range p.changes {
		files[i] = report.File{Path: c.path, Action: c.action, Why: c.why}
	}
	return files
}

// Empty reports whether Apply would write nothing.
func (p *Plan) Empty() bool {
	return !slices.ContainsFunc(p.changes, (*change).writes)
}

// nothingToDo makes the plan one that leaves everything as it is, because of what is there already.
func (p *Plan) nothingToDo(there string) {
	p.changes, p.refused, p.there = nil, nil, there
}

// There is what was asked for and is there already, with the file to go on with; "" when that
// is not known, or there is something to do.
func (p *Plan) There() string { return p.there }

// writes reports whether the change touches the disk.
func (c *change) writes() bool {
	return c.action == report.Created || c.action == report.Updated || c.action == report.Deleted
}

// find returns the planned state of a file, reading it from disk the first time.
func (p *Plan) find(path string) (*change, error) {
	for _, c := range p.changes {
		if c.path == path {
			return c, nil
		}
	}
	c := &change{path: path, action: report.Unchanged}
	data, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(path)))
	switch {
	case err == nil:
		c.exists, c.before, c.after = true, data, data
	case !errors.Is(err, fs.ErrNotExist):
		return nil, unreadable(path, err)
	}
	return c, nil
}

// there reports whether the file is there once the plan is applied.
func (c *change) there() bool {
	return c.action != report.Deleted && (c.exists || c.action == report.Created)
}

// exists reports whether a file is there, or will be once the plan is applied.
func (p *Plan) exists(path string) (bool, error) {
	c, err := p.find(path)
	if err != nil {
		return false, err
	}
	return c.there(), nil
}

// create plans a new file and remembers it in the base. A file that is there
// already is kept.
func (p *Plan) create(path string, content []byte) error {
	if p.needs != nil {
		p.needs.addFile(path, content)
		return nil
	}
	c, err := p.find(path)
	if err != nil {
		return err
	}
	switch {
	case c.action == report.Created, c.action == report.Deleted:
		return fmt.Errorf("plan %s: created twice, or deleted and created", path)
	case !c.exists:
		c.after, c.action = content, report.Created
		p.base.set(path, content)
	case bytes.Equal(c.after, content):
		p.base.set(path, content)
	default:
		c.action, c.why = report.Kept, "it was there already"
	}
	p.track(c)
	return nil
}

// write plans a file that Slipway keeps up to date itself, such as PROJECT; it has
// no merge base.
func (p *Plan) write(path string, content []byte) error {
	c, err := p.find(path)
	if err != nil {
		return err
	}
	c.set(content)
	p.track(c)
	return nil
}

// remove plans the deletion of a file, and that the base forgets it. A file that is not
// there needs none.
func (p *Plan) remove(path string) error {
	c, err := p.find(path)
	if err != nil {
		return err
	}
	p.base.remove(path)
	if c.exists {
		c.after, c.action = nil, report.Deleted
		p.track(c)
	}
	return nil
}

// move plans that a file gets another path, in the base too; it can be edited there.
// A file that is there already is refused.
func (p *Plan) move(from, to string) error {
	if err := p.copy(from, to); err != nil {
		return err
	}
	if err := p.remove(from); err != nil {
		return err
	}
	old, err := p.find(from)
	if err != nil {
		return err
	}
	old.why = "moved to " + to
	return nil
}

// copy plans a second file with a file's present content, mode and base.
func (p *Plan) copy(from, to string) error {
	old, err := p.find(from)
	if err != nil {
		return err
	}
	c, err := p.find(to)
	if err != nil {
		return err
	}
	if c.there() {
		p.refused = append(p.refused, &report.Error{
			What: "there is a file in the place that " + from + " would move to", Where: to,
			Hint: "nothing was changed; move it away or remove it, and run the command again",
		})
		return nil
	}
	c.after, c.action, c.why, c.from = old.after, report.Created, "moved from "+from, from
	p.track(c)
	if scaffolded, ok := p.base.File(from); ok {
		p.base.set(to, scaffolded)
	}
	return nil
}

// edit plans a change to an existing file, and the same change to its merge base.
// An edit that is refused leaves the plan as it is and is told by [Plan.refusal]. What
// a verb's undoing is to take out again is put with [Plan.put] instead.
func (p *Plan) edit(path string, change func(path string, src []byte) ([]byte, error)) error {
	if p.needs != nil {
		return nil
	}
	c, err := p.find(path)
	if err != nil {
		return err
	}
	after, err := change(path, c.after)
	var refusal *report.Error
	if errors.As(err, &refusal) {
		if !c.there() {
			refusal.What, refusal.Where = "the file is missing", path
		}
		p.refused = append(p.refused, refusal)
		return nil
	}
	if err != nil {
		return err
	}
	c.set(after)
	p.track(c)
	if old, ok := p.base.File(path); ok {
		// The base has every insertion point that was scaffolded; a base that cannot
		// take the change stays as it is and gives a larger merge later.
		if updated, err := change(path, old); err == nil {
			p.base.set(path, updated)
		}
	}
	return nil
}

// set decides the action for new content.
func (c *change) set(content []byte) {
	c.after = content
	switch {
	case c.action == report.Created:
	case !c.exists:
		c.action = report.Created
	case bytes.Equal(c.before, content):
		c.action = report.Unchanged
	default:
		c.action = report.Updated
	}
}

func (p *Plan) track(c *change) {
	if p.needs != nil {
		return
	}
	if !slices.Contains(p.changes, c) {
		p.changes = append(p.changes, c)
	}
}

// refusal returns the edits that could not be planned, as one error: the first
// with its place, the others with theirs in the hint.
func (p *Plan) refusal() error {
	if len(p.refused) == 0 {
		return nil
	}
	all := *p.refused[0]
	for _, e := range p.refused[1:] {
		all.Hint += fmt.Sprintf("\n%s: %s; %s", e.Where, e.What, e.Hint)
	}
	return &all
}

// finish adds the base to a plan that is otherwise complete. A plan that changes
// no other file leaves it alone.
func (p *Plan) finish() error {
	if err := p.refusal(); err != nil {
		return err
	}
	if p.Empty() || !p.base.changed {
		return nil
	}
	if len(p.base.files) == 0 {
		return p.remove(BaseFile)
	}
	data, err := p.base.encode()
	if err != nil {
		return err
	}
	return p.write(BaseFile, data)
}
