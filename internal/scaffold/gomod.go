package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/report"
)

// goMod is the go.mod that a folder has already.
type goMod struct{ file *modfile.File }

func (m *goMod) path() string { return m.file.Module.Mod.Path }

// readGoMod reads the go.mod in folder root, or returns nil when there is none.
func readGoMod(root string) (*goMod, error) {
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable("go.mod", err)
	}
	file, err := modfile.Parse("go.mod", data, nil)
	var syntax modfile.ErrorList
	if errors.As(err, &syntax) && len(syntax) > 0 {
		return nil, &report.Error{
			What: "go.mod cannot be read", Where: fmt.Sprintf("go.mod:%d:%d", syntax[0].Pos.Line, syntax[0].Pos.LineRune),
			Hint: "correct it, or remove it and say --repo", Err: syntax[0].Err,
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	if file.Module == nil {
		return nil, &report.Error{What: "go.mod has no module line", Where: "go.mod:1", Hint: "its first line names the module", Next: "go mod edit -module example.com/my-operator"}
	}
	return &goMod{file}, nil
}

// requireModules plans go.mod and go.sum: the modules that scaffolded code imports,
// with the versions and checksums that Slipway was tested with, so that a project
// builds without `go mod tidy` and without the network if they are in the cache.
func (p *Plan) requireModules(repo string, mod *goMod) error {
	data, pinned, err := pinnedModules(repo)
	if err != nil {
		return err
	}
	if mod != nil {
		if err := mod.raise(pinned); err != nil {
			return err
		}
		mod.file.Cleanup()
		if data, err = mod.file.Format(); err != nil {
			return fmt.Errorf("plan go.mod: %w", err)
		}
	}
	if err := p.write("go.mod", data); err != nil {
		return err
	}
	return p.mergeSums("go.sum")
}

// pinnedModules is the go.mod of a new project, as text and parsed.
func pinnedModules(repo string) ([]byte, *modfile.File, error) {
	data, err := render("go.mod", map[string]string{"Repo": repo})
	if err != nil {
		return nil, nil, err
	}
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("pinned modules: %w", err)
	}
	return data, file, nil
}

// raise adds what pinned requires, and keeps versions that are newer already.
func (m *goMod) raise(pinned *modfile.File) error {
	if m.file.Go == nil || semver.Compare("v"+m.file.Go.Version, "v"+pinned.Go.Version) < 0 {
		if err := m.file.AddGoStmt(pinned.Go.Version); err != nil {
			return fmt.Errorf("plan go.mod: %w", err)
		}
	}
	have := map[string]string{}
	for _, r := range m.file.Require {
		have[r.Mod.Path] = r.Mod.Version
	}
	for _, r := range pinned.Require {
		old, ok := have[r.Mod.Path]
		switch {
		case !ok:
			m.file.AddNewRequire(r.Mod.Path, r.Mod.Version, r.Indirect)
		case semver.Compare(old, r.Mod.Version) < 0:
			if err := m.file.AddRequire(r.Mod.Path, r.Mod.Version); err != nil {
				return fmt.Errorf("plan go.mod: %w", err)
			}
		}
	}
	m.file.SetRequireSeparateIndirect(m.file.Require)
	return nil
}

// A directUse says in go.mod that the project's own code imports packages of a module, which
// it requires already; a project with another go.mod is left to `go mod tidy`.
type directUse struct{ module string }

func (d directUse) id() string { return "use " + d.module }

func (d directUse) put(_ string, src []byte) ([]byte, error) { return d.set(src, false), nil }

// take makes the requirement an indirect one; whoever calls it knows that nothing else
// imports the module.
func (d directUse) take(src []byte) ([]byte, int) { return d.set(src, true), 0 }

func (d directUse) set(src []byte, indirect bool) []byte {
	file, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		return src
	}
	i := slices.IndexFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == d.module && r.Indirect != indirect })
	if i < 0 {
		return src
	}
	file.Require[i].Indirect = indirect
	file.SetRequireSeparateIndirect(file.Require)
	file.Cleanup()
	out, err := file.Format()
	if err != nil {
		return src
	}
	return out
}

// mergeSums adds the checksums of a template to go.sum, in the order of the go command.
func (p *Plan) mergeSums(name string) error {
	pinned, err := templates.ReadFile("templates/" + name + ".tmpl")
	if err != nil {
		return fmt.Errorf("pinned checksums: %w", err)
	}
	c, err := p.find("go.sum")
	if err != nil {
		return err
	}
	lines := slices.Collect(strings.Lines(string(pinned)))
	known := map[string]bool{}
	for _, line := range lines {
		known[line] = true
	}
	for line := range bytes.Lines(c.after) {
		if !known[string(line)] {
			lines = append(lines, string(line))
		}
	}
	slices.SortFunc(lines, compareSums)
	return p.write("go.sum", []byte(strings.Join(lines, "")))
}

// compareSums orders lines of go.sum by module and version.
func compareSums(a, b string) int {
	fa, fb := strings.Fields(a), strings.Fields(b)
	if len(fa) < 2 || len(fb) < 2 || fa[0] != fb[0] {
		return strings.Compare(a, b)
	}
	va, aMod := strings.CutSuffix(fa[1], "/go.mod")
	vb, bMod := strings.CutSuffix(fb[1], "/go.mod")
	switch c := semver.Compare(va, vb); {
	case c != 0:
		return c
	case aMod == bMod:
		return 0
	case aMod:
		return 1
	}
	return -1
}
