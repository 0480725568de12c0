package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/git"
	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/report"
)

// sources is what was found out about the folder of the sources.
type sources struct {
	workspace string // go.work, or "off"
	stamped   bool   // the go command notes the commit in the program
	warnings  []string
}

// Prepare finds out what the manager is compiled with: the user's go command, and what lies around the sources.
func (m Manager) Prepare(ctx context.Context) (Manager, error) {
	var err error
	if m.env, err = gocommand.Read(ctx); err != nil {
		return m, err
	}
	if err := m.within(); err != nil {
		return m, err
	}
	m.sources = sources{workspace: "off"}
	if work := filepath.Join(m.Dir, workFile); isRegular(work) {
		m.sources.workspace = work
	} else {
		m.sources.elsewhere(m.Dir)
	}
	if len(m.env.Ignored) > 0 {
		m.sources.warn("GOFLAGS have no effect, so that all users make the same image: %s; put them into go build in the %s", strings.Join(m.env.Ignored, " "), m.File)
	}
	return m, m.sources.stamp(ctx, m.Dir)
}

// workFile is the name of a workspace's file.
const workFile = "go.work"

func isRegular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

func (s *sources) warn(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// elsewhere warns of a workspace that the go command would use by itself. An image is made of the module's folder, as a
// container engine makes it.
func (s *sources) elsewhere(dir string) {
	work := os.Getenv("GOWORK")
	for up := filepath.Dir(dir); work == "" && up != dir; dir, up = up, filepath.Dir(up) {
		if path := filepath.Join(up, workFile); isRegular(path) {
			work = path
		}
	}
	if work != "" && work != "off" {
		s.warn("%s has no effect: an image is made from the module's folder only", work)
	}
}

// Goroot is the folder of the Go that compiles the manager, which is that of the toolchain that go.mod asks for.
func (m Manager) Goroot(ctx context.Context, p Platform) (string, error) {
	var out, said bytes.Buffer
	cmd := gocommand.Command{Dir: m.Dir, Env: m.variables(m.Programs[0], p), Args: []string{"env", "GOROOT"}, Stdout: &out, Stderr: &said}
	if err := cmd.Run(ctx); err != nil {
		return "", m.explain(ctx, m.Programs[0], p, err, said.String(), m.Dir)
	}
	return strings.TrimSpace(out.String()), nil
}

// within refuses what the Dockerfile names outside of the module's folder.
func (m Manager) within() error {
	for _, p := range m.Programs {
		if !filepath.IsLocal(p.Package) {
			return &report.Error{Class: report.BadProject, What: "the package is outside the module", Where: p.Package, Hint: "name a package in " + m.Dir}
		}
	}
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, file := range m.written() {
		if _, err := root.Stat(file); err != nil && !errors.Is(err, fs.ErrNotExist) { // which follows no link out of it
			return &report.Error{Class: report.BadProject, What: "a file of the module leads outside the module", Where: filepath.Join(m.Dir, file), Err: err,
				Hint: "replace the link that leads out of the module's folder by a file"}
		}
	}
	return nil
}

// written are the files that the go command may write, whatever they are links to.
func (m Manager) written() []string {
	files := []string{"go.mod", "go.sum", workFile, workFile + ".sum"}
	for _, p := range m.Programs {
		for _, flag := range p.Flags {
			if file, ok := strings.CutPrefix(flag, "-modfile="); ok {
				files = append(files, file, strings.TrimSuffix(file, ".mod")+".sum")
			}
		}
	}
	return files
}

// repositories are the names by which the go command knows the root of a repository.
var repositories = []string{".git", ".hg", ".svn", ".bzr", ".fslckout", "_FOSSIL_"}

// stamp decides whether the go command may ask a repository for the commit. Only git can be kept from running what a
// repository names.
func (s *sources) stamp(ctx context.Context, dir string) error {
	switch found := repositoriesAbove(dir); {
	case len(found) == 0:
		return nil
	case found[0] != ".git" || len(found) > 1:
		s.warn("the image has no commit: the sources are in a repository of another system than git (%s)", strings.Join(found, ", "))
		return nil
	}
	keys, err := git.Programs(ctx, dir)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case git.IsMissing(err):
	case err != nil:
		s.warn("the image has no commit: git reports %s", bytes.TrimSpace([]byte(err.Error())))
	case len(keys) > 0:
		s.warn("the image has no commit: the repository's configuration makes git run programs (%s)", strings.Join(keys, ", "))
	default:
		s.stamped = true
	}
	return nil
}

// repositoriesAbove are the kinds of repositories that a folder is in.
func repositoriesAbove(dir string) []string {
	var found []string
	for {
		for _, name := range repositories {
			if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) && (len(found) == 0 || found[0] != name) {
				found = append(found, name)
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return found
		}
		dir = up
	}
}
