package scaffold

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/usage"
)

// An undoing takes a part out of a project: what it needs and the rest does not. What
// somebody has changed stays, and so do files that what stays is using.
type undoing struct {
	*Plan
	part        *needs
	rest        *needs
	withChanges bool // changed files go too

	sources *usage.Sources
	leaving map[string]bool
	kept    map[string]string // files of the part that stay, and why
}

// plan plans the undoing.
func (u *undoing) plan() error {
	u.leaving, u.kept = map[string]bool{}, map[string]string{}
	var err error
	if u.sources, err = usage.Read(u.root); err != nil {
		return err
	}
	for _, p := range u.part.pieces {
		if p.path == "go.mod" {
			continue // depends on what stays
		}
		if err := u.takePieces(p.path, p.of); err != nil {
			return err
		}
	}
	for _, f := range u.part.files {
		if err := u.choose(f); err != nil {
			return err
		}
	}
	u.keepUsed()
	u.keepFollowers()
	for _, step := range []func() error{u.restoreRole, u.takeDirectUses} {
		if err := step(); err != nil {
			return err
		}
	}
	return u.removeFiles()
}

// hasComments reports whether somebody wrote into a YAML file that a generator wrote.
func hasComments(data []byte) bool { return bytes.Contains(data, []byte("#")) }

// takeDirectUses makes requirements indirect whose modules no code imports any more.
func (u *undoing) takeDirectUses() error {
	for _, p := range u.part.pieces {
		if p.path != "go.mod" {
			continue
		}
		unused := func(src []byte) []piece {
			return slices.DeleteFunc(p.of(src), func(piece piece) bool {
				use, ok := piece.(directUse)
				return ok && u.sources.Imports(use.module, u.leaving)
			})
		}
		if err := u.takePieces(p.path, unused); err != nil {
			return err
		}
	}
	return nil
}

// The manager's role is generated from markers in all Go files; the generator leaves it
// alone when there are none.
const (
	roleFile   = "config/rbac/role.yaml"
	roleMarker = "+kubebuilder:rbac:"
)

// restoreRole makes the manager's role what it was before the first marker when the last
// one goes.
func (u *undoing) restoreRole() error {
	c, err := u.find(roleFile)
	if err != nil || !c.there() || !u.sources.Mention(roleMarker, nil) || u.sources.Mention(roleMarker, u.leaving) {
		return err
	}
	if scaffolded, ok := u.base.File(roleFile); ok && !hasComments(c.after) {
		c.set(scaffolded)
	} else {
		c.keep("no marker is left that it follows from: remove by hand what it still permits")
	}
	u.track(c)
	return nil
}

// takePieces takes the part's pieces out of a file and out of its merge base. Pieces of Go
// code belong together: all of them stay when one has been changed or is in use.
func (u *undoing) takePieces(path string, of pieces) error {
	c, err := u.find(path)
	if err != nil || !c.there() {
		return err
	}
	after, changed := u.without(path, of, c.after)
	isGo := strings.HasSuffix(path, ".go")
	if isGo && changed == 0 {
		changed = lineIn(c.after, after, usage.Dangling(c.after, after))
	}
	changed = lineIn(c.before, c.after, changed)
	if changed > 0 {
		c.keep(fmt.Sprintf("line %d is yours: remove by hand what you do not need", changed))
		u.track(c)
		if isGo {
			return nil
		}
	}
	c.set(after)
	if changed > 0 && c.action == report.Unchanged {
		c.action = report.Kept
	}
	u.track(c)
	u.sources.Set(path, after)
	if old, ok := u.base.File(path); ok {
		scaffolded, _ := u.without(path, of, old)
		u.base.set(path, scaffolded)
	}
	return nil
}

// lineIn is the number in a file of a line in what is left of it.
func lineIn(file, rest []byte, number int) int {
	lines := bytes.Split(file, []byte("\n"))
	at := 0
	for _, line := range bytes.Split(rest, []byte("\n"))[:number] {
		for at < len(lines) && !bytes.Equal(lines[at], line) {
			at++
		}
		at++
	}
	return min(at, len(lines))
}

// without returns a file without the pieces that nobody else needs, and the line of src
// at which one stays because it was changed.
func (u *undoing) without(path string, of pieces, src []byte) (after []byte, changed int) {
	needed := u.rest.ids(path, src)
	after = src
	for _, p := range slices.Backward(of(src)) {
		if needed[p.id()] {
			continue
		}
		out, line := p.take(after)
		if changed == 0 && line > 0 {
			changed = lineIn(src, out, line)
		}
		after = out
	}
	return keepGo(path, src, after), changed
}

// choose decides about a file of the part: it goes unless others need it or it was changed.
func (u *undoing) choose(f neededFile) error {
	c, err := u.find(f.path)
	if err != nil || u.rest.hasFile(f.path) {
		return err
	}
	if !c.exists {
		u.base.remove(f.path)
		return nil
	}
	why := u.changed(c, f)
	if why == "" || u.withChanges && !u.isLink(f.path) {
		u.leaving[f.path] = true
		return nil
	}
	u.kept[f.path] = why
	return nil
}

// changed says why a file is not the tool's to delete, if so: it differs from what was
// scaffolded, or would be today.
func (u *undoing) changed(c *change, f neededFile) string {
	scaffolded, known := u.base.File(f.path)
	switch {
	case u.isLink(f.path):
		return "it is a link"
	case f.from != "":
		if isGenerated(c.before) {
			return ""
		}
		return "it is not a generated file"
	case known && sameText(c.after, scaffolded), f.content != nil && sameText(c.after, u.bare(f)):
		return ""
	case known:
		return "you changed it; --with-changes removes it too"
	}
	return "it is not as slipway would write it; --with-changes removes it too"
}

// bare is what would be created today, without pieces that came with it and are taken.
func (u *undoing) bare(f neededFile) []byte {
	content := f.content
	for _, p := range u.part.pieces {
		if p.path == f.path {
			content, _ = u.without(f.path, p.of, content)
		}
	}
	return content
}

func (u *undoing) isLink(path string) bool {
	info, err := os.Lstat(filepath.Join(u.root, filepath.FromSlash(path)))
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// sameText compares files but for their line ends, which version control may change.
func sameText(a, b []byte) bool {
	crlf, lf := []byte("\r\n"), []byte("\n")
	return bytes.Equal(bytes.ReplaceAll(a, crlf, lf), bytes.ReplaceAll(b, crlf, lf))
}

// generatedText is what files have that the generator wrote: Go files, CRDs, and the
// configuration of webhooks.
var generatedText = [][]byte{[]byte("// Code generated "), []byte("controller-gen.kubebuilder.io/version"), []byte("ating-webhook-configuration")}

// isGenerated reports whether the generator wrote a file.
func isGenerated(data []byte) bool {
	return slices.ContainsFunc(generatedText, func(text []byte) bool { return bytes.Contains(data, text) })
}

// keepUsed keeps Go files that are used by those that stay, and then what these use.
func (u *undoing) keepUsed() {
	for again := true; again; {
		again = false
		for _, path := range slices.Sorted(maps.Keys(u.leaving)) {
			if place, used := u.sources.Of(path, u.leaving); used {
				delete(u.leaving, path)
				u.kept[path] = "it is used at " + place
				again = true
			}
		}
	}
}

// keepFollowers keeps generated files whose source stays; they are not told.
func (u *undoing) keepFollowers() {
	for _, f := range u.part.files {
		if c, err := u.find(f.from); f.from != "" && err == nil && c.there() && !u.leaving[f.from] {
			delete(u.leaving, f.path)
			delete(u.kept, f.path)
		}
	}
}

// removeFiles plans what was decided.
func (u *undoing) removeFiles() error {
	for _, path := range slices.Sorted(maps.Keys(u.leaving)) {
		if err := u.remove(path); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(u.kept)) {
		c, err := u.find(path)
		if err != nil {
			return err
		}
		c.keep(u.kept[path])
		u.track(c)
	}
	return nil
}

// keep says of a file that its owner's version of it stays, in whole or in part.
func (c *change) keep(why string) {
	if c.action != report.Updated {
		c.action = report.Kept
	}
	c.why = why
}
