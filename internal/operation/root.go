package operation

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// ProjectRoot is the folder of the project that the session is in. Its error says how a project is begun.
func (s *Session) ProjectRoot() (string, error) {
	root, err := s.projectRootOrNone()
	if err != nil {
		return "", err
	}
	if root != "" {
		s.noteBelow(root)
		return root, nil
	}
	if below := s.projectsBelow(); len(below) > 0 {
		return "", s.severalProjects(below)
	}
	return "", &report.Error{
		What:  "no project in this folder",
		Where: s.Dir,
		Hint:  "a file named " + project.FileName + " was expected here or in a folder above",
		Next:  "slipway init --domain example.com --repo example.com/operator",
	}
}

// projectRootOrNone is the same for operations that can do without a project: an
// empty path where there is none.
func (s *Session) projectRootOrNone() (string, error) {
	root, err := project.Find(s.Dir)
	if errors.Is(err, project.ErrNotFound) {
		return s.onlyProjectBelow(), nil
	}
	return root, err
}

// moduleRoot is the project's root or, for operations that need Go code alone, that of the module around the
// working folder. It reports whether PROJECT is there.
func (s *Session) moduleRoot() (root string, described bool, err error) {
	if root, err = s.projectRootOrNone(); err != nil || root != "" {
		return root, err == nil, err
	}
	for dir := s.Dir; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && info.Mode().IsRegular() {
			return dir, false, nil
		}
		if dir == filepath.Dir(dir) {
			return "", false, &report.Error{What: "no Go module in this folder", Where: s.Dir, Hint: "a file named go.mod was expected here or in a folder above", Next: "go mod init example.com/operator"}
		}
	}
}

// generatedRoot is the folder in which files are generated: the project's or, without a PROJECT, the module's.
func (s *Session) generatedRoot() (string, error) {
	root, _, err := s.moduleRoot()
	if err != nil {
		return s.ProjectRoot() // which says how a project is begun
	}
	return root, nil
}

// module is the folder of the project, or else the working directory.
func (s *Session) module() (string, error) {
	root, err := s.projectRootOrNone()
	if root != "" || err != nil {
		return root, err
	}
	if _, err := os.Stat(s.absolute("go.mod")); err != nil {
		return s.ProjectRoot() // which says what is missing
	}
	return s.Dir, nil
}

// Kinds are the kinds of the project that the session is in; none where it is in no project or PROJECT cannot be read.
func (s *Session) Kinds() []project.Resource {
	root, err := s.projectRootOrNone()
	if err != nil || root == "" {
		return nil
	}
	file, err := project.Load(root)
	if err != nil {
		return nil
	}
	return file.Resources
}

// absolute is a path seen from the working folder.
func (s *Session) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Dir, path)
}

// fromHere turns a path that is relative to the project into one that leads to
// the file from the working folder, as the go command shows paths.
func (s *Session) fromHere(root, path string) string {
	if filepath.IsAbs(path) || path == "" {
		return path
	}
	rel, err := filepath.Rel(s.Dir, filepath.Join(root, path))
	if err != nil {
		return filepath.Join(root, path)
	}
	return rel
}
