package crd

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// groups are the groups that have kinds, each with the unit that its definitions are: they come of all packages of the
// group together, since each may declare a version of each kind.
type groups map[string]*generator.Unit

func (c *collector) groupsOf(kinds []kind, packages []apiPackage) groups {
	all := make(groups)
	for _, k := range kinds {
		if _, seen := all[k.group]; seen {
			continue
		}
		var own []*load.Package
		for _, p := range packages {
			if p.group == k.group {
				own = append(own, p.Package)
			}
		}
		all[k.group] = c.pass.Unit("group "+k.group, own...)
	}
	return all
}

// standing are the groups whose definitions would be the same as the last time.
func (gs groups) standing() map[string]bool {
	standing := make(map[string]bool)
	for name, unit := range gs {
		if unit.Stands() {
			standing[name] = true
		}
	}
	return standing
}

// anyOf reports whether one of the groups is among the names.
func (gs groups) anyOf(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, found := gs[name]; return found })
}

// What the generator notes for the next run: the kinds of each package, and the groups that it met outside of the
// user's packages.
const (
	kindsNote   = "kinds in "
	reachedNote = "reached groups"
)

// kindsOf are the names of a package's kinds. A package in which nothing has changed is not parsed for them.
func (c *collector) kindsOf(p apiPackage) []string {
	names, known := c.pass.Last.Notes[kindsNote+p.Dir]
	if !known || !p.Settled() {
		names = p.kinds()
	}
	c.pass.Note(kindsNote+p.Dir, names...)
	return names
}

// reached are the groups of packages that are no roots and that types of kinds refer to, now or in the last run. When
// one of them is also a group of the user's, then what a definition holds depends on which kinds were made before it.
func (c *collector) reached() []string {
	names := slices.Clone(c.pass.Last.Notes[reachedNote])
	for _, p := range c.withReached(nil) {
		if !slices.Contains(names, p.group) {
			names = append(names, p.group)
		}
	}
	c.pass.Note(reachedNote, names...)
	return names
}
