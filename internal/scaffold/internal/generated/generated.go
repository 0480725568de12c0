// Package generated reads in a project's Makefile where its generators put what follows from the code, and which code
// they read. A verb that adds to the code has the rest of the project be where that goes.
//
//	places := generated.Read(root)
//	places.Definitions() // config/crd/bases, or the folder of output:crd
package generated

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/makefile"
)

// Usual is where layouts have generated definitions.
const Usual = "config/crd/bases"

// makefileName is the file that is read; others that it includes are read besides.
const makefileName = "Makefile"

// Places are what a Makefile says; the zero value is that of one that says nothing.
type Places struct {
	crds, roles []string // the folders of definitions and of the manager's role, one for each call
	headers     []string // the files of headers
	readers     []Reader // the calls that make the manager's role
}

// A Reader is a call that makes the manager's role of the code in some folders.
type Reader struct {
	File  string
	Line  int
	Paths []string // as the call has them
	dir   string   // where it runs
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
	for _, call := range makefile.Calls(content, makefile.Program{Name: "controller-gen", Variable: "CONTROLLER_GEN"}, os.Getenv, files.FS()) {
		if call.Unclear == "" {
			p.add(call)
		}
	}
	return p
}

// add adds what a call says.
func (p *Places) add(call makefile.Call) {
	options := map[string]string{}
	var paths []string
	for _, argument := range call.Arguments {
		name, value, _ := strings.Cut(argument, "=")
		options[name] = strings.Trim(value, "\"`'{}")
		if name == "paths" {
			paths = append(paths, strings.FieldsFunc(options[name], func(r rune) bool { return r == ';' || r == ',' })...)
		}
		p.headers = appendLocal(p.headers, call.Dir, headerIn(argument))
	}
	if runs(call, "crd") {
		p.crds = appendLocal(p.crds, call.Dir, outputOf("crd", options))
	}
	if runs(call, "rbac") {
		p.roles = appendLocal(p.roles, call.Dir, outputOf("rbac", options))
		p.readers = append(p.readers, Reader{File: cmp.Or(call.File, makefileName), Line: call.Line, Paths: paths, dir: call.Dir})
	}
}

// runs reports whether a call runs a generator.
func runs(call makefile.Call, generator string) bool {
	return slices.ContainsFunc(call.Arguments, func(argument string) bool {
		return argument == generator || strings.HasPrefix(argument, generator+":")
	})
}

// outputOf is the folder into which a generator writes, as its rule says or the one of all generators.
func outputOf(generator string, options map[string]string) string {
	for _, rule := range []string{"output:" + generator + ":artifacts:config", "output:" + generator + ":dir", "output:artifacts:config", "output:dir"} {
		if folder := options[rule]; folder != "" {
			return folder
		}
	}
	return ""
}

// headerIn is the file of a header that an argument such as object:headerFile="hack/header.txt",year=2026 names.
func headerIn(argument string) string {
	_, after, named := strings.Cut(argument, "headerFile=")
	if !named || !strings.HasPrefix(argument, "object") {
		return ""
	}
	file, _, _ := strings.Cut(after, ",")
	return strings.Trim(file, "\"`'")
}

// appendLocal adds a place in the project, relative to the folder of a call, unless it is there or no such place.
func appendLocal(places []string, dir, name string) []string {
	place := path.Join(dir, name)
	if name == "" || path.IsAbs(name) || !fs.ValidPath(place) || slices.Contains(places, place) {
		return places
	}
	return append(places, place)
}

// Definitions is the folder of the project's definitions: the usual one unless none of them go there.
func (p Places) Definitions() string { return first(p.crds, Usual) }

// DefinitionsPath is that folder as arguments of filepath.Join.
func (p Places) DefinitionsPath() string {
	return `"` + strings.ReplaceAll(p.Definitions(), "/", `", "`) + `"`
}

// Roles is the folder of the manager's role, or usual.
func (p Places) Roles(usual string) string { return first(p.roles, usual) }

// Headers are the files of headers that generated code begins with.
func (p Places) Headers() []string { return p.headers }

// first is usual if it is one of the places or there are none, else the first.
func first(places []string, usual string) string {
	if len(places) == 0 || slices.Contains(places, usual) {
		return usual
	}
	return places[0]
}

// Missed is a call that makes the manager's role without reading a folder, where no other call reads it.
func (p Places) Missed(folder string) (missed Reader, is bool) {
	for _, r := range p.readers {
		if r.covers(folder) {
			return Reader{}, false
		}
		missed, is = p.readers[0], true
	}
	return missed, is
}

// covers reports whether the call reads the code of a folder. Paths that are no folders, such as import paths, may
// name any.
func (r Reader) covers(folder string) bool {
	return len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(pattern string) bool {
		if !strings.HasPrefix(pattern, ".") {
			return true
		}
		below, all := strings.CutSuffix(pattern, "...")
		place := path.Join(r.dir, below)
		return place == folder || all && (place == "." || strings.HasPrefix(folder+"/", place+"/"))
	})
}
