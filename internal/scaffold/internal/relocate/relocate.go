// Package relocate rewrites the files of a project whose Go packages move to other
// folders: package clauses, imports and what is named through them, relative paths, and
// paths in files that are not Go.
//
// It plans nothing and writes nothing. Its caller says what moves, in a [Set] that it has
// checked, and has each file rewritten:
//
//	set := &relocate.Set{Packages: …, Exists: …}
//	mistakes := set.Check(sources)
//	after, err := set.Go("api/v1/job_types.go", src)
//
// Go files are parsed, and changed only where a position of the syntax tree says so:
// comments and formatting stay. A package may be taken apart: then each of its files names
// the part that it goes to.
package relocate

import (
	"path"
	"slices"
	"strings"
)

// A Set is the packages that move, at once.
type Set struct {
	Module   string // path of the project's module
	Packages []*Package
	Folders  []Folder // those above packages, which Dockerfiles and Makefiles name
	// Exists reports whether there is a file or folder at a path of the project, with
	// slashes, before anything moves.
	Exists func(path string) bool
}

// A Package is one that moves.
type Package struct {
	Dir    string // its folder in the project, with slashes
	Import string // its import path
	Name   string // in its package clause
	Parts  []*Part
}

// A Part is what becomes of a package, or of some of its files.
type Part struct {
	Dir    string   // the new folder
	Import string   // the new import path
	Name   string   // the new name of the package
	Alias  string   // a name for it in files that import several parts
	Files  []string // names of its files, and of files in folders below, with slashes
	Copies []string // names of files that other parts have too, such as a suite

	// Renames are folders below the package that get another name, with slashes.
	Renames map[string]string

	declares map[string]bool // by Check: the names of its package's scope
}

// has reports whether the part gets a file, or a copy of it.
func (p *Part) has(name string) bool {
	return slices.Contains(p.Files, name) || slices.Contains(p.Copies, name)
}

// place is the path of a file or folder of the package in the part.
func (p *Part) place(name string) string {
	for from, to := range p.Renames {
		if rest, ok := strings.CutPrefix(name+"/", from+"/"); ok {
			return path.Join(to, rest)
		}
	}
	return name
}

// packageOf returns the moving package that a file of the project belongs to, and the
// file's name in it.
func (s *Set) packageOf(file string) (*Package, string) {
	for _, p := range s.Packages {
		name, ok := strings.CutPrefix(file, p.Dir+"/")
		if ok && slices.ContainsFunc(p.Parts, func(part *Part) bool { return part.has(name) }) {
			return p, name
		}
	}
	return nil, ""
}

// A Target is a path that a file gets. The first one of a file is a move, others are
// copies.
type Target struct {
	Path string
	part *Part // nil for a file that stays
}

// Targets returns where a file of the project goes: to its own path when it stays.
func (s *Set) Targets(file string) []Target {
	p, name := s.packageOf(file)
	if p == nil {
		return []Target{{Path: file}}
	}
	var targets []Target
	for _, part := range p.Parts {
		if part.has(name) {
			targets = append(targets, Target{path.Join(part.Dir, part.place(name)), part})
		}
	}
	return targets
}

// moved returns what becomes of a path of the project, a file or a folder.
func (s *Set) moved(name string) string {
	for _, p := range s.Packages {
		rest, ok := strings.CutPrefix(name+"/", p.Dir+"/")
		if !ok {
			continue
		}
		rest = strings.TrimSuffix(rest, "/")
		for _, part := range p.Parts {
			if rest == "" || part.has(rest) || part.hasBelow(rest) {
				return path.Join(part.Dir, part.place(rest))
			}
		}
	}
	return name
}

// hasBelow reports whether the part gets a file in the folder dir.
func (p *Part) hasBelow(dir string) bool {
	return slices.ContainsFunc(p.Files, func(name string) bool { return strings.HasPrefix(name, dir+"/") })
}
