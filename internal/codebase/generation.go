package codebase

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/report"
)

// makefileName is the file that is read; others that it includes are read besides.
const makefileName = "Makefile"

// Where kubebuilder's layouts have what is generated.
const (
	CRDFolder     = "config/crd/bases"
	RoleFolder    = "config/rbac"
	WebhookFolder = "config/webhook"
)

// controllerGenPackage is what controller-gen is installed from.
const controllerGenPackage = "sigs.k8s.io/controller-tools/cmd/controller-gen"

// A Generation is what is generated from a project's code, as its Makefile has it. The zero value is that of a project
// without one.
type Generation struct {
	// Calls are the calls of controller-gen, in order.
	Calls []Call
	// Tool is how the Makefile has controller-gen, if it calls it.
	Tool makefile.Tool
	// Makefile reports whether there is one that says anything.
	Makefile bool
	// Slipway reports whether the Makefile leaves generating to slipway, as that of our scaffold does.
	Slipway bool
}

// A Call is one call of controller-gen.
type Call struct {
	makefile.Call
	// Arguments are those without flags and without obsolete options.
	Arguments []string
	Paths     []string // of packages; none means the one where it runs
	Tags      []string // of packages; nil means the usual one
	Uses      []arguments.Use
	Obsolete  []report.Finding // options that have no effect any more
	// Err is why the arguments cannot be read, though the Makefile has them.
	Err error
}

// At is where the call stands.
func (c Call) At() report.Position {
	return report.Position{File: cmp.Or(c.File, makefileName), Line: c.Line, Column: 1}
}

// readGeneration reads the Makefile.
func (c *Codebase) readGeneration() (g Generation, err error) {
	content, err := c.makefile()
	if err != nil {
		return g, err
	}
	g.Makefile = len(content) > 0
	for _, call := range makefile.Calls(content, arguments.Program(), c.getenv, c.view) {
		g.Calls = append(g.Calls, c.readCall(call))
	}
	if len(g.Calls) > 0 {
		g.Tool = makefile.ToolOf(content, arguments.Program(), controllerGenPackage, c.getenv, c.view)
	}
	g.Slipway = len(makefile.Calls(content, makefile.Program{Name: "slipway", Variable: "SLIPWAY"}, c.getenv, nil)) > 0
	return g, nil
}

// makefile is what the Makefile holds; nothing where there is none.
func (c *Codebase) makefile() ([]byte, error) {
	content, err := c.view.ReadFile(makefileName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &report.Error{What: "the Makefile cannot be read", Where: makefileName, Err: err}
	}
	return content, nil
}

// readCall reads the arguments of a call.
func (c *Codebase) readCall(found makefile.Call) Call {
	call := Call{Call: found}
	if call.Unclear == "" && call.Dir != "" {
		if info, err := c.view.Stat(call.Dir); err != nil || !info.IsDir() {
			call.Unclear = "the project has no folder " + call.Dir
		}
	}
	if call.Unclear != "" {
		return call
	}
	args, tags, err := arguments.WithoutFlags(found.Arguments)
	if err != nil {
		call.Err = err
		return call
	}
	call.Tags = tags
	call.Arguments, call.Obsolete = modernized(args, call.At())
	read, err := arguments.Read(call.Arguments, Generators())
	call.Uses, call.Paths, call.Err = read.Uses, read.Paths, err
	return call
}

// Generators are the ones that a call may run.
func Generators() []string {
	return []string{"applyconfiguration", "crd", "object", "rbac", "schemapatch", "webhook"}
}

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
		file := ""
		if use.Output.To == arguments.ToFiles {
			folder := filepath.ToSlash(use.Output.Folder(generator))
			if file = path.Join(call.Dir, folder, name(use)); path.IsAbs(folder) || !fs.ValidPath(file) {
				continue
			}
		}
		if file == "" || !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// folders are the places that a generator's files go to; "" stands for those that are not written.
func (g Generation) folders(generator string) []string {
	return g.files(generator, func(arguments.Use) string { return "." })
}

// CRDFolder is the folder of the project's CRDs: the layout's unless none of them go there. It is "" where the Makefile
// has none written.
func (g Generation) CRDFolder() string { return first(g.folders("crd"), CRDFolder) }

// CRDFolders are all folders into which the Makefile has CRDs written.
func (g Generation) CRDFolders() []string { return written(g.folders("crd")) }

// WebhookFile is the file of webhook configurations: the layout's unless none of them go there.
func (g Generation) WebhookFile() string {
	return cmp.Or(first(g.folders("webhook"), WebhookFolder), WebhookFolder) + "/manifests.yaml"
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

// Headers are the files of headers that calls have generated code begin with: relative to the project unless absolute.
func (g Generation) Headers() (headers []string) {
	for call, use := range g.uses {
		name := use.Option("headerFile")
		if name == "" || use.Name != "object" && use.Name != "applyconfiguration" {
			continue
		}
		if name = filepath.ToSlash(name); !path.IsAbs(name) && !filepath.IsAbs(name) {
			name = path.Join(call.Dir, name)
		}
		if !slices.Contains(headers, name) {
			headers = append(headers, name)
		}
	}
	return headers
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
