package codebase

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/recipe"
)

// CRDSets are the folders that have all of the project's CRDs: those which calls write for different code. Of several
// folders for the same code, of which the others are copies, it is the one that the layout has, or else the first.
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

// A StaleCRD is a file with a CRD that the project's generators write elsewhere.
type StaleCRD struct {
	File string
	Name string // of the CRD
	Made string // the file that is generated
	Call string // the place of the call that does
}

// StaleCRDs are those in the folders in which layouts have CRDs. They were generated once, and no call writes them now.
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
				continue // generated, or copied by the recipe
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

// OtherCRDFolder is a folder in which layouts have CRDs, that has some, and into which none are generated; "" if there
// is none.
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

// usualCRDFolders are the layout's folder, and those like config/components/crd/bases.
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

// staleIn are the files of a folder that a generator wrote, and that another folder has under the same name.
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
		if err == nil && bytes.Contains(content, []byte("controller-gen.kubebuilder.io/version:")) {
			stale = append(stale, StaleCRD{File: path.Join(folder, entry.Name()), Name: plural + "." + group, Made: path.Join(made, entry.Name())})
		}
	}
	return stale, nil
}
