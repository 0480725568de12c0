package gomod

import (
	"slices"

	"golang.org/x/mod/modfile"
)

// A DirectUse says in go.mod that the project's own code imports packages of a module, which
// it requires already; a project with another go.mod is left to `go mod tidy`.
type DirectUse struct{ Module string }

// ID tells the piece from others of its file.
func (d DirectUse) ID() string { return "use " + d.Module }

// Put adds the text where it is missing.
func (d DirectUse) Put(_ string, src []byte) ([]byte, error) { return d.set(src, false), nil }

// Take makes the requirement an indirect one; whoever calls it knows that nothing else
// imports the module.
func (d DirectUse) Take(src []byte) ([]byte, int) { return d.set(src, true), 0 }

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
	file.SetRequireSeparateIndirect(file.Require)
	file.Cleanup()
	out, err := file.Format()
	if err != nil {
		return src
	}
	return out
}
