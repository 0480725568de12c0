package codebase

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// A ConfigChange is what a change of files does to the project's kustomizations.
type ConfigChange struct {
	*Kustomizations // after it
	before          *Kustomizations
	changed         map[string]bool // the files that are written or deleted
}

// ConfigAfter compares the project with what it becomes when these files are changed.
func (c *Codebase) ConfigAfter(after *Codebase, changed map[string]bool) (*ConfigChange, error) {
	before, err := c.Config()
	if err != nil {
		return nil, err
	}
	then, err := after.Config()
	if err != nil {
		return nil, err
	}
	return &ConfigChange{Kustomizations: then, before: before, changed: changed}, nil
}

// Affected are the folders with a kustomization that reads a file which changes: one that builds of another comes
// before that. Components, which do not build by themselves, and those that list nothing any more are none.
func (c *ConfigChange) Affected() []string {
	var folders []string
	size := map[string]int{}
	for _, folder := range c.before.folders {
		found := c.of(folder)
		if found == nil || found.isEmpty() || found.component {
			continue
		}
		below := c.below(folder)
		if c.changes(below) || c.changes(c.before.below(folder)) {
			folders = append(folders, folder)
		}
		size[folder] = len(below)
	}
	slices.SortStableFunc(folders, func(a, b string) int { return cmp.Compare(size[b], size[a]) })
	return folders
}

// changes reports whether one of these files changes.
func (c *ConfigChange) changes(files map[string]bool) bool {
	for name := range files {
		if c.changed[name] {
			return true
		}
	}
	return false
}

// Complete reports whether all that a folder builds of is in the project after the change: nothing is elsewhere, such
// as in a repository, or to be made yet, such as what is generated, or the first of the objects of a folder. What the
// change deletes is its doing, and no reason, but that the last object of a folder goes.
func (c *ConfigChange) Complete(folder string) bool { return c.complete(folder, map[string]bool{}) }

func (c *ConfigChange) complete(name string, seen map[string]bool) bool {
	found := c.of(name)
	switch {
	case seen[name]:
		return true
	case found == nil:
		return c.before.of(name) == nil && (isThere(c.view, name) || isThere(c.before.view, name))
	}
	seen[name] = true
	return !found.elsewhere && !found.isEmpty() && !slices.ContainsFunc(found.listed, func(name string) bool { return !c.complete(name, seen) })
}

// isThere reports whether there is a file or folder, or something that cannot be looked at.
func isThere(view fileview.View, name string) bool {
	there, err := fileview.Exists(view, name)
	return there || err != nil
}

// Broken is a kustomization whose list the change damages, whether it builds or not: it is no YAML any more, or a new
// line became part of the one above it.
func (c *ConfigChange) Broken() (file string, is bool) {
	for _, folder := range c.before.folders {
		before, after := c.before.of(folder), c.of(folder)
		if before == nil || after == nil || before.broken {
			continue
		}
		joined := slices.ContainsFunc(before.listed, func(name string) bool {
			return slices.ContainsFunc(after.listed, func(longer string) bool { return strings.HasPrefix(longer, name+" ") })
		})
		if after.broken || joined {
			return after.file, true
		}
	}
	return "", false
}
