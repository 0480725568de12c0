// Package derived plans files that follow from others, such as a chart. They are made again and again, and the user may
// change them in between.
//
//	plan, err := derived.Plan(folder, derived.Options{Folder: "dist/chart", Mark: "Chart.yaml", Files: files})
//
// The project's base records what was made last. By that, a file is merged from three texts: what was made last, what
// is there, and what is made now. The user's changes stay. A file that the user added stays, and one that the user
// deleted is not made again. Lines that both sides changed are a conflict; then nothing is written.
package derived

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/threeway"
)

// Options describe the files to make.
type Options struct {
	Folder  string            // relative to the project, with slashes
	Mark    string            // the file that identifies the folder; without it, everything is made anew
	Files   map[string][]byte // by path in the folder
	Restore bool              // make files again that the user deleted
	Prefer  threeway.Preference
	Next    string // the command that settles conflicts
	Adopt   *Adoption
}

// Plan plans the files of a project.
func Plan(folder *fileview.Folder, o Options) (*plan.Plan, error) {
	p, err := plan.New(folder)
	if err != nil {
		return nil, err
	}
	d := &deriving{Plan: p, Options: o, made: map[string]bool{}}
	for file := range p.Base().Files() {
		if inner, ok := strings.CutPrefix(file, o.Folder+"/"); ok {
			d.made[inner] = true
		}
	}
	if o.Adopt != nil {
		return p, d.adopt()
	}
	if err := d.checkFolder(); err != nil {
		return nil, err
	}
	for _, file := range slices.Sorted(maps.Keys(o.Files)) {
		if err := d.plan(file, o.Files[file]); err != nil {
			return nil, err
		}
	}
	for _, file := range slices.Sorted(maps.Keys(d.made)) {
		if _, ok := o.Files[file]; ok {
			continue
		}
		if err := d.retire(file); err != nil {
			return nil, err
		}
	}
	if err := p.FinishBase(); err != nil {
		return nil, err
	}
	if len(p.Changes()) == 0 {
		p.NothingToDo(o.Folder + " as slipway makes it")
	}
	return p, nil
}

type deriving struct {
	*plan.Plan
	Options
	made map[string]bool // files of the last time, by path in the folder
}

// checkFolder refuses a folder that slipway did not make, unless its content is the same. If the user deleted
// [Options.Mark], deleted files are made again.
func (d *deriving) checkFolder() error {
	mark := path.Join(d.Folder, d.Mark)
	there, err := d.Exists(mark)
	if err != nil {
		return err
	}
	if !there {
		d.Restore = true
	}
	if len(d.made) > 0 {
		return nil
	}
	entries, err := d.Code().View().ReadDir(path.Clean(d.Folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look into %s: %w", d.Folder, err)
	}
	if len(entries) == 0 {
		return nil
	}
	for file, content := range d.Files {
		c, err := d.Find(path.Join(d.Folder, file))
		if err != nil {
			return err
		}
		if mine, _ := unixLines(c.After()); !c.There() || !bytes.Equal(mine, content) {
			return &report.Error{
				Class: report.Conflict,
				What:  "the folder exists, and slipway has no record that it made it", Where: d.Folder,
				Hint: "nothing was changed; move the folder away, or choose another one",
			}
		}
	}
	return nil
}

func (d *deriving) plan(file string, content []byte) error {
	file = path.Join(d.Folder, file)
	c, err := d.Find(file)
	if err != nil {
		return err
	}
	base, made := d.Base().File(file)
	switch {
	case !c.There() && made && !d.Restore:
		d.Base().Set(file, content)
		return d.Keep(file, "you deleted it; --restore restores it")
	case !c.There():
		return d.Create(file, content)
	case bytes.Equal(c.After(), content):
		d.Base().Set(file, content)
		return nil
	case !made:
		return d.Keep(file, "it existed already")
	}
	mine, restore := unixLines(c.After())
	merged, conflicts := threeway.Merge(base, mine, content, d.Prefer)
	for _, conflict := range conflicts {
		d.Refuse(d.refusal(file, conflict))
	}
	d.Base().Set(file, content)
	if bytes.Equal(merged, mine) {
		return nil
	}
	return d.Write(file, restore(merged))
}

// unixLines returns the text with \n for line ends, and a function that restores \r\n if all were that. Version control
// may have changed them, which is no change of the user's.
func unixLines(text []byte) (unix []byte, restore func([]byte) []byte) {
	crlf, lf := []byte("\r\n"), []byte("\n")
	if ends := bytes.Count(text, lf); ends == 0 || ends != bytes.Count(text, crlf) {
		return text, func(merged []byte) []byte { return merged }
	}
	return bytes.ReplaceAll(text, crlf, lf), func(merged []byte) []byte { return bytes.ReplaceAll(merged, lf, crlf) }
}

// retire deletes a file that is no longer made, unless the user changed it.
func (d *deriving) retire(file string) error {
	file = path.Join(d.Folder, file)
	c, err := d.Find(file)
	if err != nil {
		return err
	}
	base, _ := d.Base().File(file)
	if mine, _ := unixLines(c.After()); !c.There() || bytes.Equal(base, mine) {
		return d.Remove(file)
	}
	d.Base().Remove(file)
	return d.Keep(file, "the chart no longer needs it, but you have changed it")
}

func (d *deriving) refusal(file string, c threeway.Conflict) *report.Error {
	return &report.Error{
		Class: report.Conflict,
		What:  "you and the project have changed the same lines; nothing was written",
		Where: fmt.Sprintf("%s:%d", file, c.Line),
		Hint:  "yours:\n" + quoted(c.Mine) + "\nthe project's:\n" + quoted(c.Generated),
		Next:  d.Next,
	}
}

// quoted indents lines for a message, or states that there are none.
func quoted(lines []string) string {
	if len(lines) == 0 {
		return "    (removed)"
	}
	return "    " + strings.ReplaceAll(strings.TrimSuffix(strings.Join(lines, ""), "\n"), "\n", "\n    ")
}
