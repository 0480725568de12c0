// Package outputs reads in a project's Makefile where its generators put what follows from the code, and which code
// they read. A verb that adds to the code has the rest of the project be where that goes.
//
//	found := outputs.Read(root)
//	found.Definitions() // config/crd/bases, or the folder of output:crd
//	found.RoleFile()    // config/rbac/role.yaml, or the file of output:rbac
package outputs

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/makefile"
)

// Usual is where layouts have generated definitions.
const Usual = "config/crd/bases"

// usualRoles is where they have the manager's role.
const usualRoles = "config/rbac"

// makefileName is the file that is read; others that it includes are read besides.
const makefileName = "Makefile"

// Places are what a Makefile says; the zero value is that of one that says nothing.
type Places struct {
	crds    []string // the folders of definitions; "" stands for those that a call does not write
	roles   []string // the files of the manager's role
	headers []string // the files of headers
	hooks   []string // the folders of configurations of webhooks, as crds
	readers []Reader // what calls make of code
}

// A Reader is a generator of a call, which reads the code in some folders.
type Reader struct {
	Generator string
	File      string
	Line      int
	Paths     []string // as the call has them
	dir       string   // where it runs
}

// Read reads the Makefile of the project in root. One that cannot be read, or whose calls are not clear, says nothing.
func Read(root string) Places {
	content, err := finite.ReadFile(filepath.Join(root, makefileName))
	if err != nil {
		return Places{}
	}
	files, err := os.OpenRoot(root)
	if err != nil {
		return Places{}
	}
	defer files.Close()
	var p Places
	for _, call := range makefile.Calls(content, arguments.Program(), os.Getenv, files.FS()) {
		if call.Unclear == "" {
			p.add(call)
		}
	}
	return p
}

// generators are the ones that a call may run.
var generators = []string{"applyconfiguration", "crd", "object", "rbac", "schemapatch", "webhook"}

// add adds what a call says. One that the generators refuse says nothing.
func (p *Places) add(call makefile.Call) {
	args, _, err := arguments.WithoutFlags(call.Arguments)
	if err != nil {
		return
	}
	read, err := arguments.Read(args, generators)
	if err != nil {
		return
	}
	for _, use := range read.Uses {
		p.readers = append(p.readers, Reader{Generator: use.Name, File: cmp.Or(call.File, makefileName), Line: call.Line, Paths: read.Paths, dir: call.Dir})
		switch use.Name {
		case "crd":
			p.crds = appendOutput(p.crds, call.Dir, use, ".")
		case "rbac":
			p.roles = appendOutput(p.roles, call.Dir, use, cmp.Or(use.Option("fileName"), "role.yaml"))
		case "webhook":
			p.hooks = appendOutput(p.hooks, call.Dir, use, ".")
		case "object":
			p.headers = appendLocal(p.headers, call.Dir, use.Option("headerFile"))
		}
	}
}

// appendOutput adds where a generator writes a file of that name; "" stands for nothing that is written.
func appendOutput(places []string, dir string, use arguments.Use, name string) []string {
	if use.Output.To != arguments.ToFiles {
		return append(places, "")
	}
	return appendLocal(places, dir, path.Join(filepath.ToSlash(use.Output.Folder(use.Name)), name))
}

// appendLocal adds a place in the project, relative to the folder of a call, unless it is there or no such place.
func appendLocal(places []string, dir, name string) []string {
	place := path.Join(dir, name)
	if name == "" || path.IsAbs(name) || !fs.ValidPath(place) || slices.Contains(places, place) {
		return places
	}
	return append(places, place)
}

// Definitions is the folder of the project's definitions: the usual one unless none of them go there. It is "" where
// the Makefile has none written.
func (p Places) Definitions() string { return first(p.crds, Usual) }

// AllDefinitions are all folders into which the Makefile has definitions written.
func (p Places) AllDefinitions() []string {
	return slices.DeleteFunc(slices.Clone(p.crds), func(folder string) bool { return folder == "" })
}

// DefinitionsPath is that folder, or the usual one, as arguments of filepath.Join.
func (p Places) DefinitionsPath() string {
	return `"` + strings.ReplaceAll(cmp.Or(p.Definitions(), Usual), "/", `", "`) + `"`
}

// Roles is the folder of the manager's role, or usual.
func (p Places) Roles(usual string) string {
	var folders []string
	for _, file := range slices.DeleteFunc(slices.Clone(p.roles), func(file string) bool { return file == "" }) {
		folders = append(folders, path.Dir(file))
	}
	return first(folders, usual)
}

// RoleFile is the file of the manager's role, which is generated.
func (p Places) RoleFile() string {
	folder := p.Roles(usualRoles)
	for _, file := range p.roles {
		if path.Dir(file) == folder && file != "" {
			return file
		}
	}
	return folder + "/role.yaml"
}

// Headers are the files of headers that generated code begins with.
func (p Places) Headers() []string { return p.headers }

// first is usual if it is one of the places or there are none, else the first that is one.
func first(places []string, usual string) string {
	if len(places) == 0 || slices.Contains(places, usual) {
		return usual
	}
	return cmp.Or(places...)
}

// Missed is the first call that runs a generator, where none that does reads a folder.
func (p Places) Missed(generator, folder string) (missed Reader, is bool) {
	for _, r := range p.readers {
		switch {
		case r.Generator != generator:
		case r.covers(folder):
			return Reader{}, false
		case !is:
			missed, is = r, true
		}
	}
	return missed, is
}

// covers reports whether the call reads the code of a folder. Paths that are no folders, such as import paths, may
// name any.
func (r Reader) covers(folder string) bool {
	return len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(pattern string) bool {
		return !strings.HasPrefix(pattern, ".") || arguments.Covers(path.Join(r.dir, pattern), folder)
	})
}
