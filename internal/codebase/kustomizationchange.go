package codebase

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// A ConfigChange compares the project's kustomizations before and after a change of files.
type ConfigChange struct {
	*Kustomizations // after the change
	before          *Kustomizations
	changed         map[string]bool // files that the change writes or deletes
}

// ConfigAfter compares the project's kustomizations with those of after. Changed holds the files that differ.
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

// Affected returns the folders whose kustomization reads a changed file. A folder comes before those that it builds
// from. Components, which do not build by themselves, and kustomizations that become empty are left out.
func (c *ConfigChange) Affected() []string {
	var folders []string
	size := map[string]int{}
	for _, folder := range c.before.folders {
		found := c.kustomizationIn(folder)
		if found == nil || found.isEmpty() || found.component {
			continue
		}
		below := c.reachableFiles(folder)
		if c.changes(below) || c.changes(c.before.reachableFiles(folder)) {
			folders = append(folders, folder)
		}
		size[folder] = len(below)
	}
	slices.SortStableFunc(folders, func(a, b string) int { return cmp.Compare(size[b], size[a]) })
	return folders
}

func (c *ConfigChange) changes(files map[string]bool) bool {
	for name := range files {
		if c.changed[name] {
			return true
		}
	}
	return false
}

// Complete reports whether everything that a folder builds from is in the project after the change. It is not if a
// resource is remote or is still to be generated, or if a kustomization lists nothing. Files that the change itself
// deletes do not count as missing.
func (c *ConfigChange) Complete(folder string) bool { return c.complete(folder, map[string]bool{}) }

func (c *ConfigChange) complete(name string, seen map[string]bool) bool {
	found := c.kustomizationIn(name)
	switch {
	case seen[name]:
		return true
	case found == nil:
		return c.before.kustomizationIn(name) == nil && (isThere(c.view, name) || isThere(c.before.view, name))
	}
	seen[name] = true
	return !found.elsewhere && !found.isEmpty() && !slices.ContainsFunc(found.listed, func(name string) bool { return !c.complete(name, seen) })
}

// isThere reports whether a file or folder exists. One that cannot be examined counts as existing.
func isThere(view fileview.View, name string) bool {
	there, err := fileview.Exists(view, name)
	return there || err != nil
}

// Broken returns a kustomization that the change damages: its text is no longer YAML, or a new line joined the one
// above. The second case may still build.
func (c *ConfigChange) Broken() (file string, is bool) {
	for _, folder := range c.before.folders {
		before, after := c.before.kustomizationIn(folder), c.kustomizationIn(folder)
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
