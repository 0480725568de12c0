// Package undo takes a part out of a project: what it needs and the rest of the project does not. Files that the user
// has changed stay, and so do files that the remaining ones use; the plan says which and why.
package undo

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/references"
)

// An undoing takes a part out of a project: what it needs and the rest does not. What
// somebody has changed stays, and so do files that what stays is using.
type undoing struct {
	*plan.Plan
	part        *plan.Needs
	rest        *plan.Needs
	withChanges bool // changed files go too
	advice      string

	sources *references.Sources
	leaving map[string]bool
	kept    map[string]string // files of the part that stay, and why
}

// Part plans that a part of the project goes, but for what the rest needs. Files that were changed
// go too if withChanges is set; advice is what their owner is reported else.
func Part(p *plan.Plan, part, rest *plan.Needs, withChanges bool, advice string) error {
	return (&undoing{
		Plan: p, part: part, rest: rest, withChanges: withChanges, advice: advice,
		leaving: map[string]bool{}, kept: map[string]string{},
	}).plan()
}

func (u *undoing) plan() error {
	var err error
	if u.sources, err = references.Read(u.Code()); err != nil {
		return err
	}
	for _, path := range u.sharedFiles() {
		if isModuleFile(path) {
			continue // depends on what stays
		}
		if err := u.takePieces(path, u.piecesIn(path)); err != nil {
			return err
		}
	}
	for _, f := range u.part.Files {
		if err := u.choose(f); err != nil {
			return err
		}
	}
	if err := u.takeListings(); err != nil {
		return err
	}
	u.keepUsed()
	u.keepFollowers()
	for _, step := range []func() error{u.restoreRole, u.takeModules} {
		if err := step(); err != nil {
			return err
		}
	}
	return u.removeFiles()
}

// sharedFiles are the files that the part has put pieces into, in the order in which it did.
func (u *undoing) sharedFiles() []string {
	var paths []string
	for _, p := range u.part.Pieces {
		if p.List == "" && !slices.Contains(paths, p.Path) {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// piecesIn are all pieces that the part has put into a file. They are taken together: what several of
// its steps share, such as an import, goes with all that use it.
func (u *undoing) piecesIn(path string) plan.Pieces {
	return func(src []byte) []plan.Piece {
		var all []plan.Piece
		for _, p := range u.part.Pieces {
			if p.Path == path && p.List == "" {
				all = append(all, p.Of(src)...)
			}
		}
		return all
	}
}

// hasComments reports whether somebody wrote into a YAML file that a generator wrote.
func hasComments(data []byte) bool { return bytes.Contains(data, []byte("#")) }

// takeModules takes out of go.mod and go.sum what is there for modules that no code imports any more.
func (u *undoing) takeModules() error {
	for _, path := range u.sharedFiles() {
		if !isModuleFile(path) {
			continue
		}
		unused := func(src []byte) []plan.Piece {
			return slices.DeleteFunc(u.piecesIn(path)(src), func(piece plan.Piece) bool {
				use, ok := piece.(gomod.Use)
				return ok && u.sources.Imports(use.Imported(), u.leaving)
			})
		}
		if err := u.takePieces(path, unused); err != nil {
			return err
		}
	}
	return nil
}

func isModuleFile(path string) bool { return path == "go.mod" || path == "go.sum" }

// roleMarker begins the markers in all Go files that the manager's role is generated from; the generator leaves it
// alone when there are none.
const roleMarker = "+kubebuilder:rbac:"

// restoreRole makes the manager's role what it was before the first marker when the last
// one goes.
func (u *undoing) restoreRole() error {
	generation, err := u.Code().Generation()
	if err != nil {
		return err
	}
	file := generation.RoleFile()
	c, err := u.Find(file)
	if err != nil || !c.There() || !u.sources.Mention(roleMarker, nil) || u.sources.Mention(roleMarker, u.leaving) {
		return err
	}
	if scaffolded, ok := u.Base().File(file); ok && !hasComments(c.After()) {
		return u.Write(file, scaffolded)
	}
	return u.Keep(file, "it has no markers any more: remove its rules by hand")
}

// takePieces takes the part's pieces out of a file and out of its merge base. Pieces of Go
// code belong together: all of them stay when one has been changed or is in use.
func (u *undoing) takePieces(path string, of plan.Pieces) error {
	c, err := u.Find(path)
	if err != nil || !c.There() {
		return err
	}
	after, changed := u.without(path, of, c.After())
	isGo := strings.HasSuffix(path, ".go")
	if isGo && changed == 0 {
		changed = lineIn(c.After(), after, references.Dangling(c.After(), after))
	}
	changed = lineIn(c.Before(), c.After(), changed)
	theirs := fmt.Sprintf("line %d has your changes: remove by hand the parts that you do not need", changed)
	if isGo && changed > 0 {
		return u.Keep(path, theirs)
	}
	if err := u.Write(path, after); err != nil {
		return err
	}
	if changed > 0 {
		if err := u.Keep(path, theirs); err != nil {
			return err
		}
	}
	u.sources.Set(path, after)
	if old, ok := u.Base().File(path); ok {
		scaffolded, _ := u.without(path, of, old)
		u.Base().Set(path, scaffolded)
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

// takenUnused is a piece that is taken only if nothing of the file uses it any more. Then nothing else needs it either,
// whatever PROJECT says of other kinds.
type takenUnused interface{ TakenUnused() }

// without returns a file without the pieces that nobody else needs, and the line of src
// at which one stays because it was changed.
func (u *undoing) without(path string, of plan.Pieces, src []byte) (after []byte, changed int) {
	needed := u.rest.IDs(path, src)
	after = src
	for _, p := range slices.Backward(of(src)) {
		if _, unused := p.(takenUnused); needed[p.ID()] && !unused {
			continue
		}
		out, line := p.Remove(after)
		if changed == 0 && line > 0 {
			changed = lineIn(src, out, line)
		}
		after = out
	}
	return gofile.KeepFormat(path, src, after), changed
}

// choose decides about a file of the part: it goes unless others need it or it was changed.
func (u *undoing) choose(f plan.NeededFile) error {
	c, err := u.Find(f.Path)
	if err != nil || u.rest.HasFile(f.Path) {
		return err
	}
	if !c.OnDisk() {
		u.Base().Remove(f.Path)
		return nil
	}
	if u.listsMore(c) {
		return nil
	}
	why := u.changed(c, f)
	if why == "" || u.withChanges && !u.isLink(f.Path) {
		u.leaving[f.Path] = true
		return nil
	}
	u.kept[f.Path] = why
	return nil
}

// changed says why a file is not the tool's to delete, if so: it differs from what was
// scaffolded, or would be today.
func (u *undoing) changed(c *plan.File, f plan.NeededFile) string {
	scaffolded, known := u.Base().File(f.Path)
	switch {
	case u.isLink(f.Path):
		return "it is a link"
	case f.From != "":
		if isGenerated(c.Before()) {
			return ""
		}
		return "it is not a generated file"
	case known && sameText(c.After(), scaffolded), f.Content != nil && sameText(c.After(), u.bare(f)):
		return ""
	case known:
		return "you changed it; " + u.advice
	}
	return "it differs from slipway's text; " + u.advice
}

// bare is what would be created today, without pieces that came with it and are taken.
func (u *undoing) bare(f plan.NeededFile) []byte {
	content := f.Content
	for _, p := range u.part.Pieces {
		if p.Path == f.Path {
			content, _ = u.without(f.Path, p.Of, content)
		}
	}
	return content
}

func (u *undoing) isLink(path string) bool {
	info, err := os.Lstat(filepath.Join(u.Root(), filepath.FromSlash(path)))
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
	for _, f := range u.part.Files {
		if c, err := u.Find(f.From); f.From != "" && err == nil && c.There() && !u.leaving[f.From] {
			delete(u.leaving, f.Path)
			delete(u.kept, f.Path)
		}
	}
}

// removeFiles plans what was decided.
func (u *undoing) removeFiles() error {
	for _, path := range slices.Sorted(maps.Keys(u.leaving)) {
		if err := u.Remove(path); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(u.kept)) {
		if err := u.Keep(path, u.kept[path]); err != nil {
			return err
		}
	}
	return nil
}

// takeListings takes what deploys a kustomization, where that goes or builds of nothing any more. Else it stays, be it
// the part's or not: without it, other objects would silently no longer be deployed.
func (u *undoing) takeListings() error {
	for _, p := range u.part.Pieces {
		if p.List == "" {
			continue
		}
		c, err := u.Find(p.List)
		if err != nil {
			return err
		}
		if c.There() && u.listsMore(c) {
			continue
		}
		if err := u.takePieces(p.Path, p.Of); err != nil {
			return err
		}
	}
	return nil
}

// listsMore reports whether a file is a kustomization that builds of other things than the part's files, once the
// part's lines are taken. Then it stays, whatever the part needs it for.
func (u *undoing) listsMore(c *plan.File) bool {
	return codebase.IsKustomization(c.Path()) && codebase.BuildsOfMore(c.Path(), c.After(), u.part.HasFile)
}
