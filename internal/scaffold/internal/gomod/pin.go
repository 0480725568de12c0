package gomod

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
)

// Pin plans go.mod and go.sum with the modules that scaffolded code imports, in the versions that slipway is tested
// with. So a project builds without `go mod tidy`, and without the network if the modules are in the cache. Mod may be
// nil.
func Pin(p *plan.Plan, repo string, mod *File) error {
	data, pinned, err := pinnedModules("go.mod", repo)
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
	if err := p.Write("go.mod", data); err != nil {
		return err
	}
	return mergeSums(p)
}

// pinnedModules renders and parses a template of a go.mod: a new project's, or a feature's.
func pinnedModules(template, repo string) ([]byte, *modfile.File, error) {
	data, err := templates.Render(template, map[string]string{"Repo": repo})
	if err != nil {
		return nil, nil, err
	}
	file, err := modfile.Parse(template, data, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("pinned modules: %w", err)
	}
	return data, file, nil
}

// raise adds the requirements of pinned, and keeps versions that are newer already.
func (m *File) raise(pinned *modfile.File) error {
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

func mergeSums(p *plan.Plan) error {
	pinned, err := templates.Raw("go.sum")
	if err != nil {
		return fmt.Errorf("pinned checksums: %w", err)
	}
	c, err := p.Find("go.sum")
	if err != nil {
		return err
	}
	return p.Write("go.sum", mergedSums(pinned, c.After()))
}

// mergedSums returns the lines of two go.sum files in the go command's order.
func mergedSums(a, b []byte) []byte {
	lines := slices.Collect(strings.Lines(string(a)))
	known := map[string]bool{}
	for _, line := range lines {
		known[line] = true
	}
	for line := range bytes.Lines(b) {
		if !known[string(line)] {
			lines = append(lines, string(line))
		}
	}
	slices.SortFunc(lines, compareSums)
	return []byte(strings.Join(lines, ""))
}

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
