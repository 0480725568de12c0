package codebase

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/recipe"
)

// CRDSets returns the folders that together hold all of the project's CRDs: one for each set of sources. If several
// folders hold the CRDs of one set, the layout's folder wins, else the first.
func (g Generation) CRDSets() (folders []string) {
	main := g.CRDFolder()
	type source struct{ dir, paths string }
	read := map[source]bool{}
	add := func(wanted func(folder string) bool) {
		for call, use := range g.uses {
			from := source{call.Dir, strings.Join(call.Paths, ";")}
			folder, inside := call.file(use, ".")
			if use.Name == "crd" && inside && folder != "" && wanted(folder) && !read[from] {
				read[from] = true
				if !slices.Contains(folders, folder) {
					folders = append(folders, folder)
				}
			}
		}
	}
	add(func(folder string) bool { return folder == main })
	add(func(folder string) bool { return folder != main })
	if len(folders) == 0 && main != "" {
		return []string{main}
	}
	return folders
}

// A StaleCRD is a CRD file that no call writes now, since the generators write that CRD to another folder.
type StaleCRD struct {
	File string
	Name string // metadata.name of the CRD
	Made string // the current file of the CRD
	Call string // "file:line" of the call that writes Made
}

// StaleCRDs returns the stale files in the folders where layouts keep CRDs.
func (c *Codebase) StaleCRDs() (stale []StaleCRD, err error) {
	g, err := c.Generation()
	if err != nil {
		return nil, err
	}
	for call, use := range g.uses {
		folder, inside := call.file(use, ".")
		if use.Name != "crd" || !inside || folder == "" {
			continue
		}
		for _, usual := range c.usualCRDFolders() {
			if slices.Contains(g.CRDFolders(), usual) || slices.ContainsFunc(call.Then, func(s recipe.Step) bool { return len(s.Changes(usual)) > 0 }) {
				continue // a call or a later step of its recipe writes there
			}
			found, err := c.staleIn(usual, folder)
			if err != nil {
				return nil, err
			}
			for _, one := range found {
				one.Call = fmt.Sprintf("%s:%d", call.File, call.Line)
				if !slices.ContainsFunc(stale, func(s StaleCRD) bool { return s.File == one.File }) {
					stale = append(stale, one)
				}
			}
		}
	}
	return stale, nil
}

// OtherCRDFolder returns a folder where layouts keep CRDs that holds some, though no call writes there. It returns ""
// if there is none.
func (c *Codebase) OtherCRDFolder() string {
	g, err := c.Generation()
	if err != nil {
		return ""
	}
	for _, folder := range c.usualCRDFolders() {
		entries, err := c.view.ReadDir(folder)
		if err == nil && !slices.Contains(g.CRDSets(), folder) && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			return path.Ext(e.Name()) == ".yaml" && strings.Contains(e.Name(), "_")
		}) {
			return folder
		}
	}
	return ""
}

// usualCRDFolders returns the folders where layouts keep CRDs: config/crd and its bases, and those like
// config/components/crd/bases.
func (c *Codebase) usualCRDFolders() []string {
	folders := []string{CRDFolder, path.Dir(CRDFolder)}
	entries, err := c.view.ReadDir("config")
	if err != nil {
		return folders
	}
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != "crd" {
			folders = append(folders, path.Join("config", entry.Name(), "crd/bases"))
		}
	}
	return folders
}

// staleIn returns the files of folder that controller-gen wrote and whose names the folder made has, too.
func (c *Codebase) staleIn(folder, made string) (stale []StaleCRD, err error) {
	entries, err := c.view.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		group, plural, is := strings.Cut(strings.TrimSuffix(entry.Name(), ".yaml"), "_")
		if _, err := c.view.Stat(path.Join(made, entry.Name())); err != nil || !is || !entry.Type().IsRegular() {
			continue
		}
		content, err := c.view.ReadFile(path.Join(folder, entry.Name()))
		if err == nil && bytes.Contains(content, []byte(arguments.VersionAnnotation+":")) {
			stale = append(stale, StaleCRD{File: path.Join(folder, entry.Name()), Name: plural + "." + group, Made: path.Join(made, entry.Name())})
		}
	}
	return stale, nil
}
