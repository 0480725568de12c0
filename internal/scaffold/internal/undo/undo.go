// Package undo removes a part of a project: what it needs and the rest of the project does not. Files that the user
// changed stay, and so do files that remaining code uses. The plan lists them with the reason.
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
	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/references"
)

type undoing struct {
	*plan.Plan
	part        *plan.Needs
	rest        *plan.Needs
	withChanges bool // remove changed files too
	advice      string

	sources *references.Sources
	leaving map[string]bool
	kept    map[string]string // files of the part that stay, each with the reason
}

// Part plans the removal of a part, except what the rest needs. With withChanges, files that the user changed go too;
// otherwise advice ends the reason why they stay.
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
			continue // handled by takeModules, when it is known which files stay
		}
		if err := u.takePieces(path, u.piecesIn(path)); err != nil {
			return err
		}
	}
	for _, f := range u.part.Files {
		if err := u.decideFile(f); err != nil {
			return err
		}
	}
	if err := u.takeListings(); err != nil {
		return err
	}
	u.keepUsed()
	u.keepGenerated()
	for _, step := range []func() error{u.restoreRole, u.takeModules} {
		if err := step(); err != nil {
			return err
		}
	}
	return u.removeFiles()
}

// sharedFiles returns the files into which the part inserted pieces, in that order.
func (u *undoing) sharedFiles() []string {
	var paths []string
	for _, p := range u.part.Pieces {
		if p.List == "" && !slices.Contains(paths, p.Path) {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// piecesIn returns all pieces of the part in a file. They are removed together, since several may share one, such as an
// import.
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

// hasComments reports whether a generated YAML file has comments, which only a user can have written.
func hasComments(data []byte) bool { return bytes.Contains(data, []byte("#")) }

// takeModules removes from go.mod and go.sum the modules that no code imports any more.
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

// roleMarker begins the markers from which the manager's role is generated. Without any, the generator does not write
// the role.
const roleMarker = "+kubebuilder:rbac:"

// restoreRole restores the scaffolded role when the last marker is removed.
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

// takePieces removes pieces from a file and its merge base. Pieces of Go code belong together: if the user changed one
// or code uses it, all stay.
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

// lineIn maps a line number of rest, which is file without some lines, to a line number of file.
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

// takenUnused is a piece whose Remove checks that the file does not use it. Then nothing else needs it, whatever
// PROJECT lists.
type takenUnused interface{ TakenUnused() }

// without returns src without the pieces that the rest does not need, and the line of a piece that stays since the user
// changed it.
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

// decideFile decides about a file of the part: it goes unless the rest needs it or the user changed it.
func (u *undoing) decideFile(f plan.NeededFile) error {
	c, err := u.Find(f.Path)
	if err != nil || u.rest.HasFile(f.Path) {
		return err
	}
	if !c.There() {
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

// changed returns why a file stays, or "": it differs both from what was scaffolded and from what would be today.
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
	case known && sameText(c.After(), scaffolded), f.Content != nil && sameText(c.After(), u.contentWithoutPieces(f)):
		return ""
	case known:
		return "you changed it; " + u.advice
	}
	return "it differs from slipway's text; " + u.advice
}

// contentWithoutPieces returns what would be created today, without the part's pieces.
func (u *undoing) contentWithoutPieces(f plan.NeededFile) []byte {
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

// sameText compares files without their line ends, which version control may change.
func sameText(a, b []byte) bool {
	crlf, lf := []byte("\r\n"), []byte("\n")
	return bytes.Equal(bytes.ReplaceAll(a, crlf, lf), bytes.ReplaceAll(b, crlf, lf))
}

// generatedText is in every file that the generator writes: Go files, CRDs, configurations of webhooks.
var generatedText = [][]byte{[]byte("// Code generated "), []byte(arguments.VersionAnnotation), []byte("ating-webhook-configuration")}

func isGenerated(data []byte) bool {
	return slices.ContainsFunc(generatedText, func(text []byte) bool { return bytes.Contains(data, text) })
}

// keepUsed keeps Go files that remaining files use, and then the files that those use.
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

// keepGenerated keeps generated files whose source stays. It does not report them.
func (u *undoing) keepGenerated() {
	for _, f := range u.part.Files {
		if c, err := u.Find(f.From); f.From != "" && err == nil && c.There() && !u.leaving[f.From] {
			delete(u.leaving, f.Path)
			delete(u.kept, f.Path)
		}
	}
}

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

// takeListings removes the lines that deploy a kustomization which is removed or builds nothing any more. Otherwise
// they stay: without them, other objects would silently not be deployed.
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

// listsMore reports whether a file is a kustomization that builds more than the part's files. Such a file stays.
func (u *undoing) listsMore(c *plan.File) bool {
	return codebase.IsKustomization(c.Path()) && codebase.BuildsOfMore(c.Path(), c.After(), u.part.HasFile)
}
