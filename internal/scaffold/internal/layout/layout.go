// Package layout moves a project between the layouts for one group and for several. It moves the folders of APIs,
// controllers and webhooks, and rewrites what refers to them.
package layout

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
	"github.com/slipway-dev/slipway/project"
)

// MultiGroup moves the project to the layout for several groups, or back to that for one.
func MultiGroup(on bool) func(*plan.Plan, *project.Project) error {
	return func(p *plan.Plan, file *project.Project) error {
		m, err := newMoving(p, file, on)
		if err != nil {
			return err
		}
		for _, step := range []func() error{m.findPackages, m.findFolders, m.check, m.moveFiles, m.divideSuites, m.rewriteFiles, m.moveRoles} {
			if err := step(); err != nil {
				return err
			}
		}
		m.record()
		return nil
	}
}

// Declare changes the layout in PROJECT alone. Existing kinds stay at their recorded paths; new kinds go to those of
// the layout.
func Declare(on bool) func(*plan.Plan, *project.Project) error {
	return func(_ *plan.Plan, file *project.Project) error {
		for i, r := range file.Resources {
			if r.API != nil && !r.External && !r.Core && r.Path == "" && !file.IsV2() {
				file.Resources[i].Path = file.ImportPath(r)
			}
		}
		file.MultiGroup = on
		return nil
	}
}

// A moving plans a move between layouts.
type moving struct {
	*plan.Plan
	project  *project.Project
	kinds    []project.Resource // the kinds that move, whether PROJECT lists them or not
	from, to *project.Project   // the project in each layout, without recorded paths
	set      *relocate.Set
	files    []string // of the project, without [foreignFolders]
	suites   []sharedSuite
}

func newMoving(p *plan.Plan, file *project.Project, on bool) (*moving, error) {
	m := &moving{Plan: p, project: file, from: inLayout(file, !on), to: inLayout(file, on)}
	if err := m.findKinds(); err != nil {
		return nil, err
	}
	if err := m.checkGroups(); err != nil {
		return nil, err
	}
	var err error
	m.files, err = ownFiles(p.Root())
	m.set = &relocate.Set{Module: file.Repo, Exists: func(name string) bool {
		_, err := os.Stat(filepath.Join(p.Root(), filepath.FromSlash(name)))
		return err == nil
	}}
	return m, err
}

// inLayout returns a copy of the project in one of the layouts.
func inLayout(p *project.Project, multiGroup bool) *project.Project {
	q := *p
	q.MultiGroup = multiGroup
	return &q
}

// foreignFolders contain nothing to rewrite. Test data and workflows in .github are not among them: they may contain
// paths that move.
var foreignFolders = []string{".git", ".slipway", "bin", "node_modules", "vendor"}

// ownFiles lists the project's files with slashes, sorted by path.
func ownFiles(root string) ([]string, error) {
	var files []string
	root, err := filepath.EvalSymlinks(root) // WalkDir does not follow a link at its root
	if err != nil {
		return nil, fileerror.Unreadable(root, err)
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, name)
		if err := errors.Join(err, relErr); err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if slices.Contains(foreignFolders, path.Base(rel)) {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			files = append(files, rel)
		}
		return nil
	})
	if err != nil {
		return nil, fileerror.Unreadable(root, err)
	}
	return files, nil
}

func (m *moving) below(dir string) []string {
	var names []string
	first, _ := slices.BinarySearchFunc(m.files, dir+"/", cmp.Compare[string])
	for _, file := range m.files[first:] {
		if name, ok := strings.CutPrefix(file, dir+"/"); ok {
			names = append(names, name)
		}
	}
	return names
}

// check refuses the move if anything cannot move, and reports all places.
func (m *moving) check() error {
	mistakes, err := m.set.Check(m.sourceToCheck)
	for _, mistake := range mistakes {
		m.Refuse(moveRefusal(mistake))
	}
	return errors.Join(err, m.Refusal())
}

func moveRefusal(mistake relocate.Mistake) *report.Error {
	return &report.Error{Class: report.BadProject, What: mistake.Problem, Where: mistake.Position, Hint: mistake.Hint + "; nothing was changed"}
}

func (m *moving) moveFiles() error {
	for _, file := range m.files {
		targets := m.set.Targets(file)
		for _, other := range targets[1:] {
			if err := m.Copy(file, other.Path); err != nil {
				return err
			}
		}
		if targets[0].Path == file {
			continue
		}
		if err := m.Move(file, targets[0].Path); err != nil {
			return err
		}
	}
	return nil
}

// rewriteFiles plans the changes in Go code and in other files that contain paths.
func (m *moving) rewriteFiles() error {
	if len(m.set.Packages) == 0 {
		return nil
	}
	for _, file := range m.files {
		for _, target := range m.set.Targets(file) {
			rewrite := func(_ string, src []byte) ([]byte, error) { return m.set.Text(src), nil }
			switch {
			case path.Ext(file) == ".go":
				rewrite = m.rewriteGo(file, target)
			case !namesPaths(file):
				continue
			}
			if err := m.editIfNeeded(target.Path, rewrite); err != nil {
				return err
			}
			if path.Ext(file) != ".go" {
				if err := m.reportMentions(target.Path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// reportMentions reports the line of a file that its author must check.
func (m *moving) reportMentions(file string) error {
	c, err := m.Find(file)
	if err != nil {
		return err
	}
	lines := m.set.Mentions(c.After())
	if len(lines) == 0 {
		return nil
	}
	return m.Keep(file, fmt.Sprintf("line %d names a folder of which a part has moved: check whether it means that part", lines[0]))
}

// editIfNeeded plans an edit unless it would change nothing.
func (m *moving) editIfNeeded(file string, change func(string, []byte) ([]byte, error)) error {
	c, err := m.Find(file)
	if err != nil {
		return err
	}
	if after, err := change(file, c.After()); err == nil && bytes.Equal(after, c.After()) {
		return nil
	}
	return m.Edit(file, change)
}

// rewriteGo returns the edit that adapts a Go file to its new place and to what moved.
func (m *moving) rewriteGo(file string, target relocate.Target) func(string, []byte) ([]byte, error) {
	return remembering(func(_ string, src []byte) ([]byte, error) {
		after, err := m.set.Go(file, target, src)
		var syntax *relocate.SyntaxError
		switch {
		case errors.As(err, &syntax):
			return nil, moveRefusal(syntax.Mistake)
		case errors.Is(err, relocate.ErrDotImport):
			return nil, &report.Error{Class: report.BadProject, What: err.Error(), Where: file, Hint: "give the import a name; nothing was changed"}
		case err != nil:
			return nil, err
		}
		if relocate.ImportsSorted(after) {
			return after, nil
		}
		return gofile.KeepFormat(target.Path, src, after), nil
	})
}

// remembering returns an edit that caches the last result: a file and its base are usually equal.
func remembering(change func(string, []byte) ([]byte, error)) func(string, []byte) ([]byte, error) {
	var before, after []byte
	return func(path string, src []byte) ([]byte, error) {
		if before != nil && bytes.Equal(before, src) {
			return after, nil
		}
		out, err := change(path, src)
		if err == nil {
			before, after = src, out
		}
		return out, err
	}
}

// namesPaths reports whether the file is of a kind in which tools read paths.
func namesPaths(file string) bool {
	name := path.Base(file)
	switch path.Ext(name) {
	case ".mk", ".sh":
		return true
	case ".yml", ".yaml":
		return strings.HasPrefix(file, ".github/") || strings.HasPrefix(name, ".")
	}
	return name == "Makefile" || name == "Tiltfile" || name == ".dockerignore" || strings.HasPrefix(name, "Dockerfile")
}

// moveRoles renames the roles' files to the new layout's names. The roles keep their names, since bindings refer to
// them.
func (m *moving) moveRoles() error {
	if m.project.MultiGroup == m.to.MultiGroup { // their names may differ from the layout's
		return nil
	}
	folder, list, prefix, err := newapi.RolesFolder(m.Plan)
	if err != nil {
		return err
	}
	for _, r := range m.kinds {
		for _, role := range []string{"admin", "editor", "viewer"} {
			from, to := path.Base(m.from.RoleFile(r, role)), path.Base(m.to.RoleFile(r, role))
			old, err := m.Find(path.Join(folder, from))
			if err != nil {
				return err
			}
			if from == to || !old.There() || !strings.Contains(string(old.After()), r.QualifiedGroup()) {
				continue // a kind of the same name in another group has that file
			}
			if err := m.Move(path.Join(folder, from), path.Join(folder, to)); err != nil {
				return err
			}
			if list == "" {
				continue // the user put the file there, and nothing lists it
			}
			if err := m.Edit(list, piece.RenameItem(prefix+from, prefix+to)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *moving) record() {
	m.project.MultiGroup = m.to.MultiGroup
	for i := range m.project.Resources {
		r := &m.project.Resources[i]
		if r.External || r.Core {
			continue
		}
		for _, p := range m.set.Packages {
			if r.Path == p.Import {
				r.Path = p.Parts[0].Import
			}
		}
	}
}
