package codebase

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/arguments"
)

// uses yields the generators of all calls whose arguments are known, each with its call.
func (g Generation) uses(yield func(Call, arguments.Use) bool) {
	for _, call := range g.Calls {
		if call.Unclear != "" || call.Err != nil {
			continue
		}
		for _, use := range call.Uses {
			if !yield(call, use) {
				return
			}
		}
	}
}

// files returns the project's files that a generator writes, each once. It adds a "" for each call that writes none.
func (g Generation) files(generator string, name func(arguments.Use) string) (files []string) {
	for call, use := range g.uses {
		if use.Name != generator {
			continue
		}
		file, inside := call.file(use, name(use))
		if inside && (file == "" || !slices.Contains(files, file)) {
			files = append(files, file)
		}
	}
	return files
}

// file returns the path of a file that a generator of the call writes, or "" if its output is not to files. Inside is
// false for a path outside the project.
func (c Call) file(use arguments.Use, name string) (file string, inside bool) {
	if use.Output.To != arguments.ToFiles {
		return "", true
	}
	folder := filepath.ToSlash(use.Output.Folder(use.Name))
	file = path.Join(c.Dir, folder, name)
	return file, !path.IsAbs(folder) && fs.ValidPath(file)
}

// folders returns the folders that a generator writes to, with "" as in files.
func (g Generation) folders(generator string) []string {
	return g.files(generator, func(arguments.Use) string { return "." })
}

// CRDFolder returns the folder of the project's CRDs: the layout's if a call writes there or none is known. It returns
// "" if the calls write no CRDs to files.
func (g Generation) CRDFolder() string { return preferLayout(g.folders("crd"), CRDFolder) }

// CRDFolders returns all folders into which calls write CRDs.
func (g Generation) CRDFolders() []string { return writtenPlaces(g.folders("crd")) }

// WebhookFile returns the file of webhook configurations: the layout's unless all calls write elsewhere.
func (g Generation) WebhookFile() string {
	return cmp.Or(preferLayout(g.folders("webhook"), WebhookFolder), WebhookFolder) + "/manifests.yaml"
}

// WebhookFiles returns all files into which calls write webhook configurations.
func (g Generation) WebhookFiles() []string {
	return writtenPlaces(g.files("webhook", func(arguments.Use) string { return "manifests.yaml" }))
}

func (g Generation) roles() []string {
	return writtenPlaces(g.files("rbac", func(use arguments.Use) string { return cmp.Or(use.Option("fileName"), "role.yaml") }))
}

// RoleFolder returns the folder of the manager's role: layout unless all calls write elsewhere.
func (g Generation) RoleFolder(layout string) string {
	var folders []string
	for _, file := range g.roles() {
		folders = append(folders, path.Dir(file))
	}
	return preferLayout(folders, layout)
}

// RoleFile returns the file of the manager's role.
func (g Generation) RoleFile() string {
	folder, roles := g.RoleFolder(RoleFolder), g.roles()
	if i := slices.IndexFunc(roles, func(file string) bool { return path.Dir(file) == folder }); i >= 0 {
		return roles[i]
	}
	return folder + "/role.yaml"
}

// RoleFiles returns all files into which calls write roles, or the layout's.
func (g Generation) RoleFiles() []string {
	if files := g.roles(); len(files) > 0 {
		return files
	}
	return []string{g.RoleFile()}
}

// Missed returns the first call that runs a generator if no call of that generator reads folder.
func (g Generation) Missed(generator, folder string) (missed Call, is bool) {
	for call, use := range g.uses {
		switch {
		case use.Name != generator:
		case call.covers(folder):
			return Call{}, false
		case !is:
			missed, is = call, true
		}
	}
	return missed, is
}

// covers reports whether the call reads the code of a folder. An import path is assumed to name any folder.
func (c Call) covers(folder string) bool {
	return len(c.Paths) == 0 || slices.ContainsFunc(c.Paths, func(pattern string) bool {
		return !strings.HasPrefix(pattern, ".") || arguments.Covers(path.Join(c.Dir, pattern), folder)
	})
}

// preferLayout returns layout if places contain it or are empty, else the first place that is written.
func preferLayout(places []string, layout string) string {
	if len(places) == 0 || slices.Contains(places, layout) {
		return layout
	}
	return cmp.Or(places...)
}

// writtenPlaces removes "", which stands for output that is not written.
func writtenPlaces(places []string) []string {
	return slices.DeleteFunc(places, func(place string) bool { return place == "" })
}
