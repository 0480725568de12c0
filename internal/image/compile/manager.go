// Package compile compiles a project's manager into a static program that runs alone in an image.
//
//	m, err := compile.Find(dir, Source{})      // which packages, how, by the Dockerfile
//	m, err = m.Prepare(ctx)                    // with the user's go command
//	program, err := m.Compile(ctx, m.Programs[0], platform, store)
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
	Arguments  map[string]string // for its ARGs, and variables of the Makefile
	Command    string            // that builds it, for advice: a package may follow
	WithBase   bool              // the image has another one below, which may have what ENTRYPOINT starts
	// AllowIncomplete finds it also if an image of it lacks what the Dockerfile has.
	AllowIncomplete bool
}

// Manager is the main package of a manager, and what else an image of it has.
type Manager struct {
	Dir      string             // of the module
	File     string             // the Dockerfile, as messages name it
	Programs []dockerfile.Build // of the image, with packages like ./cmd; the first one is the manager
	Files    []dockerfile.Copy  // of the module that the image has
	Recipe   dockerfile.Recipe

	from     Source
	on       *dockerfile.Image      // see On
	env      *gocommand.Environment // see Prepare
	sources  sources
	unlisted error // why Files are not all of them
}

// Find finds the manager of the module in dir: the package that is named, or the one that the Dockerfile builds, or the
// one there is.
func Find(dir string, from Source) (Manager, error) {
	err := checkSmall(filepath.Join(dir, "go.mod"), maxGoMod)
	if errors.Is(err, errLarge) {
		return Manager{}, err
	}
	m := Manager{Dir: dir, File: cmp.Or(from.Dockerfile, FileName), from: from}
	if err != nil {
		return m.withoutGo()
	}
	view := fileview.Disk(dir)
	if err := m.read(view, from); err != nil {
		return m, err
	}
	code := codebase.Read(view, os.Getenv)
	err = m.choose(code, from)
	if _, lacks := m.Left(from.WithBase); len(lacks) > 0 && !from.AllowIncomplete { // which may be why none is chosen
		return m, m.incomplete(from, lacks)
	}
	if err != nil {
		return m, err
	}
	for i := range m.Programs {
		p := &m.Programs[i]
		folder := code.Folder(p.Package)
		if !code.IsMain(folder) {
			return m, noMain(filepath.Join(dir, cmp.Or(folder, p.Package)))
		}
		if p.Path = cmp.Or(p.Path, "/manager"); folder == "." {
			p.Package = folder
		} else {
			p.Package = "./" + folder
		}
	}
	return m, nil
}

// incomplete is the refusal of an image that would lack what the Dockerfile has.
func (m Manager) incomplete(from Source, lacks []string) error {
	next := from.Command
	if from.Package != "" {
		next += " " + shellword.Quote(from.Package)
	}
	hint := append(lacks[1:], "--allow-incomplete builds the image without; a container engine builds all of it")
	return &report.Error{Class: report.BadProject, What: "the image would lack what the Dockerfile has", Where: lacks[0], Hint: strings.Join(hint, "\n"), Next: next + " --allow-incomplete"}
}

// choose decides which programs the image has: those of the Dockerfile, or the package that is named in their place.
// The module's own folder without a main package stands for what the Dockerfile builds.
func (m *Manager) choose(code *codebase.Codebase, from Source) error {
	m.Programs = slices.Clone(m.Recipe.Programs)
	if len(m.Programs) == 0 {
		m.Programs = []dockerfile.Build{{Path: m.Recipe.Started()}}
	}
	if from.Package != "" && (code.Folder(from.Package) != "." || code.IsMain(".")) {
		named := m.Programs[0]
		for _, p := range m.Programs {
			if folder := code.Folder(p.Package); folder != "" && folder == code.Folder(from.Package) {
				named = p
			}
		}
		named.Package = from.Package
		m.Programs = []dockerfile.Build{named}
	}
	if m.Programs[0].Package != "" {
		return nil
	}
	found, err := code.Manager(func(pkg string) *report.Error {
		return &report.Error{Hint: "name the manager's", Next: from.Command + " " + shellword.Quote("./"+pkg)}
	})
	m.Programs[0].Package = found.Package
	return err
}

// noMain is the refusal of a folder without a main package, with the command that lists those that there are.
func noMain(dir string) error {
	return &report.Error{Class: report.BadProject, What: "there is no main package to build", Where: dir,
		Hint: "name a main package, or put it in ./cmd, in the module's folder or into the Dockerfile's go build", Next: codebase.ListMains}
}

// read reads the Dockerfile. The module's own may be missing.
func (m *Manager) read(view fileview.View, from Source) error {
	name := cmp.Or(from.Dockerfile, filepath.Join(m.Dir, FileName))
	text, err := m.text(view, name)
	missing := errors.Is(err, os.ErrNotExist)
	if missing && (from.Dockerfile != "" || from.Target != "") {
		return &report.Error{What: "there is no Dockerfile", Where: name, Hint: "--file names another one", Code: report.UsageCode}
	}
	if err != nil && !missing {
		return err
	}
	m.Recipe, err = dockerfile.Read(string(text), dockerfile.Options{Name: m.File, Target: from.Target, Arguments: from.Arguments, Files: view, On: m.on})
	if invalid, ok := errors.AsType[*dockerfile.SyntaxError](err); ok {
		return &report.Error{Class: report.BadProject, What: "the Dockerfile cannot be read", Where: fmt.Sprintf("%s:%d", m.File, invalid.Line), Err: invalid.Err, Hint: "no builder takes it; correct that line"}
	}
	if err != nil {
		return &report.Error{What: "the Dockerfile has no stage " + from.Target, Where: name, Err: err, Code: report.UsageCode}
	}
	below, err := filepath.Rel(m.Dir, name)
	if err != nil {
		below = FileName
	}
	root, err := os.OpenRoot(m.Dir) // which follows no link out of it
	if err != nil {
		return err
	}
	defer root.Close()
	m.Files, m.unlisted = m.Recipe.List(root.FS(), filepath.ToSlash(below))
	return nil
}

// text is the text of a Dockerfile. One below the module is read through no link that leads out of the repository,
// since messages show its lines.
func (m *Manager) text(view fileview.View, name string) ([]byte, error) {
	if err := checkSmall(name, dockerfile.MaxSize); err != nil {
		return nil, err
	}
	dir, errDir := filepath.Abs(m.Dir)
	file, errFile := filepath.Abs(name)
	below, err := filepath.Rel(dir, file)
	if err = errors.Join(errDir, errFile, err); err != nil || !filepath.IsLocal(below) {
		return os.ReadFile(name)
	}
	text, err := view.ReadFile(filepath.ToSlash(below))
	if errors.Is(err, fileview.ErrOutside) {
		return nil, &report.Error{Class: report.BadProject, What: "cannot read the Dockerfile", Where: name, Err: fileview.ErrOutside, Hint: "replace the link by the file"}
	}
	return text, err
}

// maxGoMod is how long a go.mod may be.
const maxGoMod = 4 << 20

// errLarge is why a file is not read: it may be a link to one that has no end.
var errLarge = errors.New("it is too large, or not a file")

// checkSmall refuses a file of a stranger's that is long or has no end.
func checkSmall(name string, limit int64) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return &report.Error{Class: report.BadProject, What: "cannot read the file", Where: name, Err: errLarge, Hint: fmt.Sprintf("expected a file of at most %d KiB", limit>>10)}
	}
	return nil
}

// Left lists what the Dockerfile does, and what the user's settings are, that the image will be without: what changes
// nothing of its programs and files, and what it lacks.
func (m Manager) Left(withBase bool) (harmless, lacks []string) {
	harmless = slices.Clone(m.sources.warnings)
	for _, line := range m.Recipe.Left {
		text := fmt.Sprintf("%s:%d: `%s` has no part in this image: %s", line.File, line.Number, line.Text, line.Why)
		if line.Flag {
			text = fmt.Sprintf("%s:%d: go build is run without `%s`: %s", line.File, line.Number, line.Text, line.Why)
		}
		if line.Harmless {
			harmless = append(harmless, text)
		} else {
			lacks = append(lacks, text)
		}
	}
	if m.unlisted != nil {
		lacks = append(lacks, fmt.Sprintf("%s: not all files are copied: %v", m.File, m.unlisted))
	}
	started := m.Recipe.Started()
	if len(m.Recipe.Entrypoint) > 0 && !m.has(started) && !withBase {
		lacks = append(lacks, fmt.Sprintf("%s: ENTRYPOINT starts %s, which this image does not have", m.File, started))
	}
	if m.Recipe.Base != "" && !withBase {
		harmless = append(harmless, fmt.Sprintf("%s: this image is not based on %s; to base it on that, add --base %s", m.File, m.Recipe.Base, m.Recipe.Base))
	}
	return harmless, lacks
}

// has reports whether the image has a program or a file at a path.
func (m Manager) has(full string) bool {
	return slices.ContainsFunc(m.Programs, func(b dockerfile.Build) bool { return b.Path == full }) ||
		slices.ContainsFunc(m.Files, func(c dockerfile.Copy) bool { return c.To == full })
}
