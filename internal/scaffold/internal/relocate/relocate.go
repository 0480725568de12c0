// Package relocate rewrites the files of a project whose Go packages move to other folders: package clauses, imports
// and qualified names, relative paths, and paths in files that are not Go.
//
// It plans and writes nothing. The caller describes the move in a [Set], checks it, and passes each file:
//
//	set := &relocate.Set{Packages: …, Exists: …}
//	mistakes, err := set.Check(readFile)
//	after, err := set.Go("api/v1/job_types.go", target, src)
//
// It changes Go files only at positions of their syntax trees, so that comments and formatting stay. A package may be
// divided: then each file belongs to one part.
package relocate

import (
	"path"
	"slices"
	"strings"
)

// A Set is the packages that move together.
type Set struct {
	Module   string // path of the project's module
	Packages []*Package
	Folders  []Folder // folders above packages, which Dockerfiles and Makefiles name
	// Exists reports whether a path of the project, with slashes, exists before the move.
	Exists func(path string) bool
}

// A Package is a package that moves.
type Package struct {
	Dir    string // its folder in the project, with slashes
	Import string
	Name   string // in its package clause
	Parts  []*Part
}

// A Part is the new place of a package, or of some of its files.
type Part struct {
	Dir     string // the new folder
	Import  string
	Name    string   // the new name of the package
	Alias   string   // its name in files that import several parts
	Without []string // names that its files declare and others do not take from it
	// Called lists names for the part in a file that calls the package name; the first is taken that means nothing
	// there yet. Without it the name stays.
	Called func(name string) []string
	Files  []string // files that move, also from subfolders, with slashes
	Copies []string // files that other parts get too, such as a suite

	// Renames maps subfolders of the package to their new names.
	Renames map[string]string

	declares map[string]bool // the names of the part's scope; set by Check
}

func (p *Part) has(name string) bool {
	return slices.Contains(p.Files, name) || slices.Contains(p.Copies, name)
}

// place returns the path in the part of a file or folder of the package.
func (p *Part) place(name string) string {
	for from, to := range p.Renames {
		if rest, ok := strings.CutPrefix(name+"/", from+"/"); ok {
			return path.Join(to, rest)
		}
	}
	return name
}

// packageOf returns the moving package that a file belongs to, and the file's name in it.
func (s *Set) packageOf(file string) (*Package, string) {
	for _, p := range s.Packages {
		name, ok := strings.CutPrefix(file, p.Dir+"/")
		if ok && slices.ContainsFunc(p.Parts, func(part *Part) bool { return part.has(name) }) {
			return p, name
		}
	}
	return nil, ""
}

// A Target is a new path of a file. The first target of a file is a move, others are copies.
type Target struct {
	Path string
	part *Part // nil for a file that stays
}

// Targets returns the new paths of a file, or its present one if it stays.
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

// moved returns the new path of a file or folder.
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

// hasBelow reports whether a file of the subfolder dir moves to the part.
func (p *Part) hasBelow(dir string) bool {
	return slices.ContainsFunc(p.Files, func(name string) bool { return strings.HasPrefix(name, dir+"/") })
}
