package operation

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
	"github.com/slipway-dev/slipway/project"
)

// Limits of the search for projects below the root of a repository.
const (
	depthBelow   = 3
	entriesBelow = 20_000
)

// NestedProject returns the folder of the only project in the repository or workspace whose root is the working folder.
// It returns "" if there are several, or if the root has a go.mod: commands then work there.
func NestedProject(s *Session) string {
	if exists(s.Dir, "go.mod") {
		return ""
	}
	if below := nestedProjects(s); len(below) == 1 {
		return filepath.Join(s.Dir, filepath.FromSlash(below[0]))
	}
	return ""
}

// nestedProjects returns the folders of projects below the working folder, slash-separated, if that is the root of a
// repository or workspace.
func nestedProjects(s *Session) []string {
	if s.Dir == "" || !exists(s.Dir, ".git") && !exists(s.Dir, "go.work") {
		return nil
	}
	var found []string
	left := entriesBelow
	_ = fs.WalkDir(os.DirFS(s.Dir), ".", func(name string, entry fs.DirEntry, err error) error {
		left--
		switch {
		case left < 0:
			return fs.SkipAll
		case err != nil:
			return nil // unreadable folders have no projects
		case entry.IsDir():
			return enterBelow(name)
		case filepath.Base(name) == project.FileName && entry.Type().IsRegular() && name != project.FileName:
			found = append(found, name[:len(name)-len("/"+project.FileName)])
		}
		return nil
	})
	return found
}

// enterBelow skips folders without code and those that are too deep.
func enterBelow(name string) error {
	if name != "." && (sourcefolder.WithoutCode(path.Base(name)) || strings.Count(name, "/") >= depthBelow) {
		return fs.SkipDir
	}
	return nil
}

// NoteNestedProject notes, once per session, that the project is below the working folder: paths are relative to it.
func NoteNestedProject(s *Session, root string) {
	rel, err := filepath.Rel(s.Dir, root)
	if err != nil || rel == "." || !filepath.IsLocal(rel) || s.noted {
		return
	}
	s.noted = true
	s.Handler.Handle(report.Note{Text: "the project is in " + rel + "; paths are relative to that"})
}

// severalProjects returns the error for several projects below the working folder. It suggests a command only with a
// folder name that needs no quoting.
func severalProjects(s *Session, below []string) error {
	next := ""
	if shellword.IsPlain(below[0]) {
		next = "cd " + filepath.FromSlash(below[0])
	}
	return &report.Error{
		Class: report.BadProject,
		What:  "no project in this folder, but in folders below it", Where: s.Dir, Hint: "projects are in " + strings.Join(below[:min(len(below), mostNamed)], ", "),
		Next: next,
	}
}

// mostNamed bounds how many projects a message names.
const mostNamed = 8
