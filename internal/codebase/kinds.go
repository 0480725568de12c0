package codebase

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// A Kind is a type of the project's code that is a version of a kind, by the generators' definition of one.
type Kind struct {
	source.Kind
	Package *Package
	// Entry is what PROJECT records of the kind, as it is there, or nil.
	Entry *project.Resource
}

// A Package is a package of the project's code that has kinds, or markers of packages of kinds, or a struct type that
// embeds TypeMeta.
type Package = source.Package

// A Registration is how a package gets its kinds into a scheme.
type Registration = source.Registration

// Where is the place of the type, "file:line".
func (k Kind) Where() string { return report.Position{File: k.File, Line: k.Line}.String() }

// Kinds are the kinds that the project's code declares, in the order of their folders, be they in PROJECT or not. Their
// error is that the project's folder cannot be read.
func (c *Codebase) Kinds() ([]Kind, error) {
	code, err := c.kinds()
	return code.kinds, err
}

// Packages are the packages of [Codebase.Kinds], and those that have no kinds yet.
func (c *Codebase) Packages() ([]Package, error) {
	code, err := c.kinds()
	return code.packages, err
}

// Package is the one of [Codebase.Packages] in a folder. Where there is none it is the zero value, and types there are
// no kinds.
func (c *Codebase) Package(dir string) Package {
	code, _ := c.kinds() // a caller that needs all kinds reports the error
	for _, p := range code.packages {
		if p.Dir == dir {
			return p
		}
	}
	return Package{}
}

// KindIn is the kind of a name in the package of a folder, or nil.
func (c *Codebase) KindIn(dir, name string) *Kind {
	return c.kind(func(k Kind) bool { return k.Name == name && k.Package.Dir == dir })
}

// KindOf is the kind that PROJECT has an entry for, or nil.
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

// kindsInCode is what one look at the code finds.
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

// listed are the kinds of the project's own that PROJECT lists.
type listed []listedKind

type listedKind struct {
	*project.Resource
	dir string // where PROJECT has its types
}

// listed reads them. A PROJECT file that cannot be read lists none: what is wrong with it is reported by who changes
// it.
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

// enter gives each kind its entry: that of its folder or, where the folder that PROJECT has for an entry does not have
// the kind, that of its version, if no other kind may be meant.
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
				moved = append(moved, nil) // it is in its place
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
