package plan

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/slipway-dev/slipway/internal/report"
)

// A File is the planned state of one file.
type File struct {
	path    string
	exists  bool
	before  []byte // content on disk when it was read
	after   []byte
	action  report.Action
	why     string
	from    string // of a new file: the one whose content and mode it takes
	movedTo string // of a deleted file: its new path
	earlier bool   // planned before the last [Plan.Proceed]
}

// Path uses slashes and is relative to the project.
func (c *File) Path() string { return c.path }

// OnDisk reports whether the file existed when it was read.
func (c *File) OnDisk() bool { return c.exists }

// Before is the content on disk when the file was read.
func (c *File) Before() []byte { return c.before }

// After is the content once the plan is applied. The caller must not change it.
func (c *File) After() []byte { return c.after }

func (c *File) writes() bool {
	return c.action == report.Created || c.action == report.Updated || c.action == report.Deleted
}

// There reports whether the file exists once the plan is applied.
func (c *File) There() bool {
	return c.action != report.Deleted && (c.exists || c.action == report.Created)
}

// set plans new content and derives the action from it.
func (c *File) set(content []byte) {
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

func (c *File) diff() string {
	before, after := "a/"+c.path, "b/"+c.path
	if !c.exists {
		before = "/dev/null"
	}
	if c.action == report.Deleted {
		after = "/dev/null"
	}
	return string(diff.Diff(before, c.before, after, c.after))
}

// moved returns the move to another path, with the changes to the content, as a diff in git's format.
func (c *File) moved(to *File) string {
	before, after := "a/"+c.path, "b/"+to.path
	text := fmt.Sprintf("diff --git %s %s\n", before, after)
	if bytes.Equal(c.before, to.after) {
		text += "similarity index 100%\n"
	}
	text += fmt.Sprintf("rename from %s\nrename to %s\n", c.path, to.path)
	_, hunks, _ := strings.Cut(string(diff.Diff(before, c.before, after, to.after)), "\n") // below its own header
	return text + hunks
}
