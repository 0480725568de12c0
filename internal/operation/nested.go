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

// How far below the root of a repository projects are looked for.
const (
	depthBelow   = 3
	entriesBelow = 20_000
)

// NestedProject is the folder of the one project in the repository whose root is the working folder, so that commands
// work there, too. It is empty if there is none, or several, or a Go module in the root itself, which commands mean
// then.
func NestedProject(s *Session) string {
	if exists(s.Dir, "go.mod") {
		return ""
	}
	if below := nestedProjects(s); len(below) == 1 {
		return filepath.Join(s.Dir, filepath.FromSlash(below[0]))
	}
	return ""
}

// nestedProjects are the folders of projects below the working folder, if that is the root of a repository or of a
// workspace.
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
			return nil // what cannot be read has no project
		case entry.IsDir():
			return enterBelow(name)
		case filepath.Base(name) == project.FileName && entry.Type().IsRegular() && name != project.FileName:
			found = append(found, name[:len(name)-len("/"+project.FileName)])
		}
		return nil
	})
	return found
}

// enterBelow skips folders that have no projects of the repository's own.
func enterBelow(name string) error {
	if name != "." && (sourcefolder.WithoutCode(path.Base(name)) || strings.Count(name, "/") >= depthBelow) {
		return fs.SkipDir
	}
	return nil
}

// NoteNestedProject says which project is meant if that is below the working folder, since paths are relative to it. It
// does so once in a session.
func NoteNestedProject(s *Session, root string) {
	rel, err := filepath.Rel(s.Dir, root)
	if err != nil || rel == "." || !filepath.IsLocal(rel) || s.noted {
		return
	}
	s.noted = true
	s.Handler.Handle(report.Note{Text: "the project is in " + rel + "; paths are relative to that"})
}

// severalProjects refuses to choose among projects. It advises no command with a name that is not plain: a repository
// may name a folder like a command.
func severalProjects(s *Session, below []string) error {
	next := ""
	if shellword.IsPlain(below[0]) {
		next = "cd " + filepath.FromSlash(below[0])
	}
	return &report.Error{
		What: "no project in this folder, but in folders below it", Where: s.Dir, Hint: "projects are in " + strings.Join(below[:min(len(below), mostNamed)], ", "),
		Next: next,
	}
}

// mostNamed bounds how many projects a message names.
const mostNamed = 8
