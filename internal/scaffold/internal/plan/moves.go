package plan

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
)

// reportedChanges returns the changes to report. A move is one change, under its new path.
func (p *Plan) reportedChanges() []*File {
	var told []*File
	for _, c := range p.changes {
		if c.action != report.Deleted || c.movedTo == "" {
			told = append(told, c)
		}
	}
	return told
}

// movedFrom returns the old path of a moved file, or "".
func (p *Plan) movedFrom(c *File) string {
	if old := p.known[c.from]; c.action == report.Created && old != nil && old.movedTo == c.path {
		return c.from
	}
	return ""
}

func (p *Plan) actionOn(c *File) report.Action {
	if p.movedFrom(c) != "" {
		return report.Moved
	}
	return c.action
}

// renamed returns the file that can be renamed to c on disk, or nil. Its content must not change, and it must not be a
// link, which would have another target from another folder.
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
