// Package compile compiles a project's manager into a static program that runs alone in an image.
//
//	m, err := compile.Find(dir, Source{})      // which package, how, by the Dockerfile
//	m, err = m.Prepare(ctx)                    // with the user's go command
//	program, err := m.Compile(ctx, platform, store)
//	program.Path, program.Created, program.Info
//
// The go command does the work, as a Dockerfile has it do: without C, with trimmed paths, with the flags that the
// Dockerfile gives. So the same sources make the same bytes wherever they lie, and for every user. Programs stay
// in the store, where the go command finds them up to date the next time and links nothing.
//
// The sources may be a stranger's. No program of theirs is run: not by flags and variables (package dockerfile), not by
// cgo, which is off, and not by git's configuration, which comes with an archive. Toolchains that go.mod asks for are
// Go's, as the user's GOTOOLCHAIN has it.
package compile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/image/dockerfile"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// FileName is the Dockerfile's name.
const FileName = "Dockerfile"

// Source says what to build. The zero value is what the module's own Dockerfile builds.
type Source struct {
	Package    string            // main package, like ./cmd
	Dockerfile string            // path of another Dockerfile than the module's
	Target     string            // the stage that becomes the image, instead of the last one
	Arguments  map[string]string // for its ARGs
	Command    string            // that builds it, for advice: a package may follow
}

// Manager is a main package and how it is built.
type Manager struct {
	Dir     string // of the module
	File    string // the Dockerfile, as messages name it
	Package string // like ./cmd
	Recipe  dockerfile.Recipe

	env     *gocommand.Environment // see Prepare
	sources sources
}

// Find finds the manager of the module in dir: the package that is named, or the one that the Dockerfile builds, or the
// one there is.
func Find(dir string, from Source) (Manager, error) {
	_, err := readSmall(filepath.Join(dir, "go.mod"), maxGoMod)
	if errors.Is(err, errLarge) {
		return Manager{}, err
	}
	if err != nil {
		return Manager{}, &report.Error{What: "there is no Go module in this folder", Where: dir, Hint: "expected a file go.mod here", Code: 2}
	}
	m := Manager{Dir: dir, Package: from.Package, File: cmp.Or(from.Dockerfile, FileName)}
	if err := m.read(from); err != nil {
		return m, err
	}
	if m.Package == "" && m.Recipe.Build.Line > 0 {
		m.Package = m.Recipe.Build.Package
	}
	code := codebase.Read(fileview.Disk(dir), os.Getenv)
	if m.Package == "" {
		if m.Package, err = guess(code, dir, from.Command); err != nil {
			return m, err
		}
	}
	folder := code.Folder(m.Package)
	if !code.IsMain(folder) {
		return m, noMain(filepath.Join(dir, cmp.Or(folder, m.Package)))
	}
	if m.Package = folder; folder != "." {
		m.Package = "./" + folder
	}
	return m, nil
}

// noMain is the refusal of a folder without a main package, with the command that lists those that there are.
func noMain(dir string) error {
	return &report.Error{What: "there is no main package to build", Where: dir, Code: 2,
		Hint: "name a main package, or put it in ./cmd, in the module's folder or into the Dockerfile's go build",
		Next: `go list -f '{{if eq .Name "main"}}{{.Dir}}{{end}}' ./...`}
}

// read reads the Dockerfile. The module's own may be missing.
func (m *Manager) read(from Source) error {
	name := cmp.Or(from.Dockerfile, filepath.Join(m.Dir, FileName))
	text, err := readSmall(name, dockerfile.MaxSize)
	missing := errors.Is(err, os.ErrNotExist)
	if missing && (from.Dockerfile != "" || from.Target != "") {
		return &report.Error{What: "there is no Dockerfile", Where: name, Hint: "--file names another one", Code: 2}
	}
	if err != nil && !missing {
		return err
	}
	if m.Recipe, err = dockerfile.ReadStage(string(text), from.Target, from.Arguments); err != nil {
		return &report.Error{What: "the Dockerfile has no stage " + from.Target, Where: name, Err: err, Code: 2}
	}
	return nil
}

// maxGoMod is how long a go.mod may be.
const maxGoMod = 4 << 20

// errLarge is why a file is not read: it may be a link to one that has no end.
var errLarge = errors.New("it is too large, or not a file")

// readSmall reads a file of a stranger's.
func readSmall(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, &report.Error{What: "cannot read the file", Where: name, Err: errLarge, Hint: fmt.Sprintf("expected a file of at most %d KiB", limit>>10), Code: 2}
	}
	return os.ReadFile(name)
}

// guess is the package where projects have their manager. The command builds the one that is named.
func guess(code *codebase.Codebase, dir, command string) (string, error) {
	found, err := code.Managers()
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", noMain(dir)
	case len(found) == 1:
		return found[0].Package, nil
	}
	var packages []string
	for _, m := range found {
		packages = append(packages, m.Package)
	}
	return "", &report.Error{What: "the module has several main packages", Where: strings.Join(packages, ", "), Code: 2,
		Hint: "name the manager's", Next: command + " " + shellword.Quote("./"+packages[0])}
}

// Warnings list what the Dockerfile does, and what the user's settings are, that the image will be without.
func (m Manager) Warnings(withBase bool) []string {
	all := slices.Clone(m.sources.warnings)
	for _, line := range m.Recipe.Apart {
		all = append(all, fmt.Sprintf("%s:%d: `%s` has no part in this image: %s", m.File, line.Number, line.Text, line.Why))
	}
	for _, line := range m.Recipe.Omitted {
		all = append(all, fmt.Sprintf("%s:%d: go build is run without `%s`: %s", m.File, line.Number, line.Text, line.Why))
	}
	if started := m.Recipe.Started(); len(m.Recipe.Entrypoint) > 0 && started != m.Recipe.Binary && !withBase {
		all = append(all, fmt.Sprintf("%s: ENTRYPOINT starts %s, which this image does not have", m.File, started))
	}
	if m.Recipe.Base != "" && !withBase {
		all = append(all, fmt.Sprintf("%s: this image is not based on %s; to base it on that, add --base %s", m.File, m.Recipe.Base, m.Recipe.Base))
	}
	return all
}
