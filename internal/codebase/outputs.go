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

// uses are the generators of all calls that can be followed, each with its call.
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

// files are the places in the project that a generator writes a file of some name to; "" stands for one that is not
// written.
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

// file is the place in the project of a file that a generator of the call writes; "" if it is written nowhere. It is
// not inside if it lies out of the project.
func (c Call) file(use arguments.Use, name string) (file string, inside bool) {
	if use.Output.To != arguments.ToFiles {
		return "", true
	}
	folder := filepath.ToSlash(use.Output.Folder(use.Name))
	file = path.Join(c.Dir, folder, name)
	return file, !path.IsAbs(folder) && fs.ValidPath(file)
}

// folders are the places that a generator's files go to; "" stands for those that are not written.
func (g Generation) folders(generator string) []string {
	return g.files(generator, func(arguments.Use) string { return "." })
}

// CRDFolder is the folder of the project's CRDs: the layout's unless none of them go there. It is "" where calls
// have none written.
func (g Generation) CRDFolder() string { return first(g.folders("crd"), CRDFolder) }

// CRDFolders are all folders into which calls have CRDs written.
func (g Generation) CRDFolders() []string { return written(g.folders("crd")) }

// WebhookFile is the file of webhook configurations: the layout's unless none of them go there.
func (g Generation) WebhookFile() string {
	return cmp.Or(first(g.folders("webhook"), WebhookFolder), WebhookFolder) + "/manifests.yaml"
}

// WebhookFiles are all files into which calls have webhook configurations written.
func (g Generation) WebhookFiles() []string {
	return written(g.files("webhook", func(arguments.Use) string { return "manifests.yaml" }))
}

// roles are the files of roles.
func (g Generation) roles() []string {
	return written(g.files("rbac", func(use arguments.Use) string { return cmp.Or(use.Option("fileName"), "role.yaml") }))
}

// RoleFolder is the folder of the manager's role: the layout's unless it does not go there.
func (g Generation) RoleFolder(layout string) string {
	var folders []string
	for _, file := range g.roles() {
		folders = append(folders, path.Dir(file))
	}
	return first(folders, layout)
}

// RoleFile is the file of the manager's role.
func (g Generation) RoleFile() string {
	folder, roles := g.RoleFolder(RoleFolder), g.roles()
	if i := slices.IndexFunc(roles, func(file string) bool { return path.Dir(file) == folder }); i >= 0 {
		return roles[i]
	}
	return folder + "/role.yaml"
}

// RoleFiles are all files of roles.
func (g Generation) RoleFiles() []string {
	if files := g.roles(); len(files) > 0 {
		return files
	}
	return []string{g.RoleFile()}
}

// Missed is the first call that runs a generator, where none that does reads a folder.
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

// covers reports whether the call reads the code of a folder. Paths that are no folders, such as import paths, may
// name any.
func (c Call) covers(folder string) bool {
	return len(c.Paths) == 0 || slices.ContainsFunc(c.Paths, func(pattern string) bool {
		return !strings.HasPrefix(pattern, ".") || arguments.Covers(path.Join(c.Dir, pattern), folder)
	})
}

// first is the layout's place if it is one of the places or there are none, else the first that is one.
func first(places []string, layout string) string {
	if len(places) == 0 || slices.Contains(places, layout) {
		return layout
	}
	return cmp.Or(places...)
}

// written are the places of files that are written.
func written(places []string) []string {
	return slices.DeleteFunc(places, func(place string) bool { return place == "" })
}
