package generator

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// Memory is what a generator remembers from run to run.
type Memory struct {
	// Units are the files of each [Unit].
	Units map[string][]Remembered `json:",omitempty"`
	// Notes are what else it has to know, see [Pass.Note].
	Notes map[string][]string `json:",omitempty"`
}

// Remembered is a file of a unit.
type Remembered struct {
	Package string `json:",omitempty"` // its folder; empty for configuration
	Name    string `json:",omitempty"`
	Path    string `json:",omitempty"` // of a file that has its place, instead of a name
}

// Unit is a part of a generator's work that comes of some of the user's packages, of what those refer to and of nothing
// else, say the methods of a package's types:
//
//	unit := pass.Unit("methods", root)
//	if unit.Stands() {
//		unit.Keep()
//		continue
//	}
//	…
//	unit.Code(root, "zz_generated.deepcopy.go", content)
//
// All files of a unit have to be added by its methods.
type Unit struct {
	pass     *Pass
	key      string
	packages []*load.Package
}

// Unit begins a unit.
func (p *Pass) Unit(name string, packages ...*load.Package) *Unit {
	u := &Unit{pass: p, key: name, packages: packages}
	for _, of := range packages {
		u.key += "\n" + of.Dir
	}
	u.remember()
	return u
}

// Stands reports whether the last run made the same unit and nothing has changed in the packages that it comes of.
func (u *Unit) Stands() bool {
	_, made := u.pass.Last.Units[u.key]
	return made && !slices.ContainsFunc(u.packages, func(p *load.Package) bool { return !p.Settled() })
}

// Keep adds the files of a unit that stands, as they are on disk.
func (u *Unit) Keep() {
	for _, f := range u.pass.Last.Units[u.key] {
		file := File{Name: f.Name, Path: f.Path, Kept: true}
		if f.Package != "" {
			file.Package = u.packages[slices.IndexFunc(u.packages, func(p *load.Package) bool { return p.Dir == f.Package })]
		}
		u.pass.add(file)
		u.remember(f)
	}
}

// Code is [Pass.Code] for one of the unit's packages.
func (u *Unit) Code(pkg *load.Package, name string, content []byte) {
	u.pass.Code(pkg, name, content)
	u.remember(Remembered{Package: pkg.Dir, Name: name})
}

// Traced is [Pass.Traced].
func (u *Unit) Traced(name string, content []byte, source Source) {
	u.pass.Traced(name, content, source)
	u.remember(Remembered{Name: name})
}

// At is [Pass.At].
func (u *Unit) At(path string, content []byte) {
	u.pass.At(path, content)
	u.remember(Remembered{Path: path})
}

// Forget has the next run make the unit again: it has files that were not added by its methods.
func (u *Unit) Forget() {
	u.pass.mu.Lock()
	defer u.pass.mu.Unlock()
	delete(u.pass.memory.Units, u.key)
}

func (u *Unit) remember(files ...Remembered) {
	p := u.pass
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.memory.Units == nil {
		p.memory.Units = make(map[string][]Remembered)
	}
	p.memory.Units[u.key] = append(p.memory.Units[u.key], files...)
}

// Note remembers values under a key until the next run, which finds them in [Pass.Last].
func (p *Pass) Note(key string, values ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.memory.Notes == nil {
		p.memory.Notes = make(map[string][]string)
	}
	p.memory.Notes[key] = values
}

// Memory is what the generator wants to remember of this run.
func (p *Pass) Memory() Memory {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.memory
}
