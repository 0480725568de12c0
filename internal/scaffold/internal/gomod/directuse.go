package gomod

import (
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// A DirectUse marks a module that go.mod requires as imported by the project's own code. Without the requirement, or if
// go.mod cannot be parsed, it changes nothing.
type DirectUse struct{ Module string }

// ID implements plan.Piece.
func (d DirectUse) ID() string { return "use " + d.Module }

// Imported implements [Use].
func (d DirectUse) Imported() string { return d.Module }

// Insert implements plan.Piece.
func (d DirectUse) Insert(_ string, src []byte) ([]byte, error) { return d.set(src, false), nil }

// Remove makes the requirement indirect. The caller knows that no other code imports the module.
func (d DirectUse) Remove(src []byte) ([]byte, int) { return d.set(src, true), 0 }

func (d DirectUse) set(src []byte, indirect bool) []byte {
	file, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		return src
	}
	i := slices.IndexFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == d.Module && r.Indirect != indirect })
	if i < 0 {
		return src
	}
	file.Require[i].Indirect = indirect
	out, err := separated(file)
	if err != nil {
		return src
	}
	return out
}

// UseTypes plans the direct requirements of the module of a foreign kind's types, and of more modules that the code
// imports. It refuses a kind of a module that go.mod does not require.
func UseTypes(p *plan.Plan, r project.Resource, more ...string) error {
	switch {
	case r.Core && r.Group == "apiextensions":
		more = append(more, "k8s.io/apiextensions-apiserver")
	case r.Core:
		more = append(more, "k8s.io/api")
	case r.External && !p.Recording():
		name, err := ModuleOf(p.Code().View(), r.Path)
		if err != nil {
			return err
		}
		more = append(more, name)
	}
	for _, name := range more {
		if err := p.Insert("go.mod", plan.These(DirectUse{name})); err != nil {
			return err
		}
	}
	return nil
}

// separated formats a go.mod with direct and indirect requirements in one block each. If any requirement has comments,
// all stay where they are.
func separated(file *modfile.File) ([]byte, error) {
	require := slices.Clone(file.Require)
	if !slices.ContainsFunc(require, hasComments) {
		for i, r := range require {
			require[i] = &modfile.Require{Mod: r.Mod, Indirect: r.Indirect}
			if err := file.DropRequire(r.Mod.Path); err != nil {
				return nil, err
			}
		}
		file.Cleanup()
	}
	file.SetRequireSeparateIndirect(require)
	file.Cleanup()
	return file.Format()
}

func hasComments(r *modfile.Require) bool {
	c := r.Syntax.Comments
	return len(c.Before) > 0 || len(c.Suffix) > 1 || len(c.Suffix) == 1 && strings.TrimSpace(strings.TrimPrefix(c.Suffix[0].Token, "//")) != "indirect"
}
