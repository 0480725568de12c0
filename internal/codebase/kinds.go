package codebase

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// A Kind is a Go type of the project that the generators take for a version of a kind.
type Kind struct {
	source.Kind
	Package *Package
	// Entry is the unmodified entry of the kind in PROJECT, or nil.
	Entry *project.Resource
}

// A Package is a package with kinds, with package markers for kinds, or with a struct that embeds TypeMeta.
type Package = source.Package

// A Registration is the way in which a package adds its kinds to a scheme.
type Registration = source.Registration

// Where returns "file:line" of the type.
func (k Kind) Where() string { return report.Position{File: k.File, Line: k.Line}.String() }

// Kinds returns the kinds that the project's code declares, whether or not PROJECT lists them, in the order of their
// folders. The error is that the project's folder cannot be read.
func (c *Codebase) Kinds() ([]Kind, error) {
	code, err := c.kinds()
	return code.kinds, err
}

// Packages returns the packages of [Codebase.Kinds], and those that have no kinds yet.
func (c *Codebase) Packages() ([]Package, error) {
	code, err := c.kinds()
	return code.packages, err
}

// Package returns the package of [Codebase.Packages] in a folder. The zero value means that types there are not kinds.
func (c *Codebase) Package(dir string) Package {
	code, _ := c.kinds() // a caller that needs all kinds reports the error
	for _, p := range code.packages {
		if p.Dir == dir {
			return p
		}
	}
	return Package{}
}

// KindIn returns the kind with this name in the package of a folder, or nil.
func (c *Codebase) KindIn(dir, name string) *Kind {
	return c.kind(func(k Kind) bool { return k.Name == name && k.Package.Dir == dir })
}

// KindOf returns the kind that belongs to an entry of PROJECT, or nil.
func (c *Codebase) KindOf(r project.Resource) *Kind {
	return c.kind(func(k Kind) bool {
		return k.Entry != nil && k.Entry.Group == r.Group && k.Entry.Version == r.Version && k.Entry.Kind == r.Kind
	})
}

func (c *Codebase) kind(is func(Kind) bool) *Kind {
	code, _ := c.kinds() // a caller that needs all kinds reports the error
	if i := slices.IndexFunc(code.kinds, is); i >= 0 {
		return &code.kinds[i]
	}
	return nil
}

type kindsInCode struct {
	packages []Package
	kinds    []Kind
}

func (c *Codebase) readKinds() (code kindsInCode, err error) {
	folders, err := c.folders()
	if err != nil {
		return code, err
	}
	for _, folder := range folders {
		if p, is := source.Read(c.view, folder.dir, folder.files); is {
			code.packages = append(code.packages, p)
		}
	}
	for i := range code.packages {
		p := &code.packages[i]
		for _, k := range p.Kinds {
			if k.Plural == project.Plural(k.Name) {
				k.Plural = ""
			}
			code.kinds = append(code.kinds, Kind{Kind: k, Package: p})
		}
	}
	c.listed().enter(code.kinds)
	return code, nil
}

// listed are the entries of PROJECT whose types are in the project.
type listed []listedKind

type listedKind struct {
	*project.Resource
	dir string // where PROJECT expects the types
}

// listed returns the project's own entries of PROJECT. If the file cannot be read it returns none: the commands that
// change the project report the error.
func (c *Codebase) listed() (all listed) {
	file, err := c.readProject()
	if err != nil || file == nil {
		return nil
	}
	c.inModule(file)
	for i := range file.Resources {
		if r := &file.Resources[i]; file.Own(*r) {
			all = append(all, listedKind{r, file.APIDir(*r)})
		}
	}
	return all
}

// enter assigns PROJECT's entries to the kinds. The kind in the folder that PROJECT expects gets its entry. For a moved
// kind, the entry goes to the only one elsewhere of that name and version.
func (all listed) enter(kinds []Kind) {
	for _, l := range all {
		for i := range kinds {
			if kinds[i].Name == l.Kind && kinds[i].Package.Dir == l.dir {
				kinds[i].Entry = l.Resource
			}
		}
	}
	for _, l := range all {
		var moved []*Kind
		for i := range kinds {
			k := &kinds[i]
			switch {
			case k.Entry == l.Resource:
				moved = append(moved, nil) // the kind is where PROJECT expects it
			case k.Entry == nil && k.Name == l.Kind && k.Package.Version == l.Version:
				moved = append(moved, k)
			}
		}
		if len(moved) == 1 && moved[0] != nil {
			moved[0].Entry = l.Resource
		}
	}
}

// below reports whether PROJECT has types in a folder or below it.
func (all listed) below(dir string) bool {
	return slices.ContainsFunc(all, func(l listedKind) bool { return strings.HasPrefix(l.dir+"/", path.Clean(dir)+"/") })
}
