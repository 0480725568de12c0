package plan

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
)

// told are the changes that are told one by one: a move is told with its new place.
func (p *Plan) told() []*File {
	var told []*File
	for _, c := range p.changes {
		if c.action != report.Deleted || c.movedTo == "" {
			told = append(told, c)
		}
	}
	return told
}

// movedFrom is where a moved file was; "" for any other.
func (p *Plan) movedFrom(c *File) string {
	if old := p.known[c.from]; c.action == report.Created && old != nil && old.movedTo == c.path {
		return c.from
	}
	return ""
}

// actionOn is what is told of a change.
func (p *Plan) actionOn(c *File) report.Action {
	if p.movedFrom(c) != "" {
		return report.Moved
	}
	return c.action
}

// renamed returns the file that becomes this one as it is, by renaming it, or nil: its content stays, and it
// is no link, which would lead elsewhere from another folder.
func (p *Plan) renamed(c *File) *File {
	from := p.movedFrom(c)
	if from == "" || c.exists {
		return nil
	}
	old := p.known[from]
	info, err := os.Lstat(filepath.Join(p.Root(), filepath.FromSlash(from)))
	if err != nil || !info.Mode().IsRegular() || !old.exists || old.action != report.Deleted || !bytes.Equal(old.before, c.after) {
		return nil
	}
	return old
}
