package clients

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/crd"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// finding is what was found to generate for.
type finding struct {
	pass     *generator.Pass
	versions []*apiVersion
	groups   []string         // all that have clients to generate
	kinds    []*load.TypeDecl // that do not ask for one
	failed   bool             // there are findings because of which nothing is generated
}

// find looks for the types that ask for clients; groups, if any, are the only
// ones wanted, by their name, its first part, or their folder's name.
func find(pass *generator.Pass, groups []string) *finding {
	f := &finding{pass: pass}
	for _, p := range pass.Roots {
		v := &apiVersion{Package: p}
		for _, d := range p.Decls() {
			f.failed = f.failed || d.Broken() // told already, and nothing is written
			switch {
			case d.Markers().Has("genclient"):
				v.types = append(v.types, d)
			case crd.IsKind(d):
				f.kinds = append(f.kinds, d)
			}
		}
		if len(v.types) == 0 {
			continue
		}
		v.group, _ = marker.Get[string](p.Markers(), "groupName")
		f.groups = append(f.groups, v.group)
		if len(groups) == 0 || slices.ContainsFunc(groups, v.isGroup) {
			f.versions = append(f.versions, v)
			f.check(v)
		}
	}
	f.checkTogether()
	return f
}

// isGroup reports whether name means the group of v.
func (v *apiVersion) isGroup(name string) bool {
	first, _, _ := strings.Cut(v.group, ".")
	return name == v.group || name == first || name == v.folder()
}

// folder is the name of the folder above the version's, after which the packages
// of clients are called.
func (v *apiVersion) folder() string { return path.Base(path.Dir(v.Path)) }

// place is where the package is told to lack something: its file that says most
// about the group, or the first one.
func (v *apiVersion) place() report.Position {
	files := v.GoFiles()
	for _, name := range []string{"groupversion_info.go", "register.go", "doc.go"} {
		for _, path := range files {
			if filepath.Base(path) == name {
				return report.Position{File: path}
			}
		}
	}
	return report.Position{File: files[0]} // it has types
}

func (f *finding) packages() []*load.Package {
	packages := make([]*load.Package, len(f.versions))
	for i, v := range f.versions {
		packages[i] = v.Package
	}
	return packages
}

var errNoClient = errors.New("no type has the marker +genclient")

// nothing says why there are no types to generate clients for for, and where to begin.
func (f *finding) nothing(groups []string) error {
	slices.Sort(f.groups)
	if len(groups) > 0 && len(f.groups) > 0 {
		return &report.Error{Class: report.BadProject, What: "no type of these groups has the marker +genclient", Where: strings.Join(groups, ", "), Err: errNoClient,
			Hint: "use one of " + strings.Join(slices.Compact(f.groups), ", ")}
	}
	e := &report.Error{Class: report.BadProject, What: "there are no types to generate clients for", Err: errNoClient, Hint: "add the marker // +genclient to a type"}
	if len(f.kinds) > 0 {
		d := f.kinds[0]
		e.Where = d.File.Position(d.Spec.Pos()).String()
		e.Hint = "the line // +genclient above type " + d.Name()
	}
	return e
}

func (f *finding) fail(at report.Position, format string, args ...any) {
	f.failed = true
	f.pass.Report(report.Finding{Rule: report.RuleClients, Position: at, Message: fmt.Sprintf(format, args...), Fatal: true})
}

// versionName is what the folder of a version must be called, for the generators
// take group and version from the import path.
var versionName = lazy.Regexp(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// check tells what would keep clients from being right or from compiling.
func (f *finding) check(v *apiVersion) {
	if v.Broken() {
		f.failed = true
		return
	}
	at := v.place()
	switch _, named := marker.Get[string](v.Markers(), "groupName"); {
	case !named:
		f.fail(at, "clients need the package's API group; add // +groupName=<group> above the package clause")
	case !versionName().MatchString(path.Base(v.Path)):
		f.fail(at, "clients need a package whose folder has the name of its API version; this one is named %s", path.Base(v.Path))
	}
	f.lacks(v, v.declared(f.pass))
	for _, d := range v.types {
		f.checkType(v, d)
	}
}

func (f *finding) checkType(v *apiVersion, d *load.TypeDecl) {
	at := d.File.Position(d.Spec.Pos())
	if text, _ := marker.Get[marker.Raw](d.Markers(), "genclient"); text != "" {
		f.fail(at, "+genclient takes no value; remove the line to have no client")
	}
	if !embedsMetadata(d) {
		f.fail(at, "%s has +genclient but does not embed metav1.TypeMeta and metav1.ObjectMeta", d.Name())
	}
	if !d.Markers().Has("genclient:noVerbs") && v.Decl(d.Name()+"List") == nil {
		f.fail(at, "%s has +genclient but no list type; declare %[1]sList", d.Name())
	}
}

// checkTogether tells packages that clients could not tell apart.
func (f *finding) checkTogether() {
	places, names := make(map[string]*apiVersion), make(map[string]*apiVersion)
	for _, v := range f.versions {
		place, name := v.folder()+"/"+path.Base(v.Path), v.goName()
		switch other, namesake := places[place], names[name]; {
		case other != nil:
			f.fail(report.Position{File: v.Dir}, "clients of %s and of %s need the same package %s; generate each group into its own folder",
				cmp.Or(other.group, other.Path), cmp.Or(v.group, v.Path), place)
		case namesake != nil:
			f.fail(report.Position{File: v.Dir}, "the clients of %s and of %s have the same name %s in a clientset; generate each group into its own folder (--group %s), or rename one with // +%s=<name>",
				namesake.Path, v.Path, name, v.folder(), goNameMarker)
		}
		places[place], names[name] = v, v
	}
}

// goNameMarker is the marker with which a package has its group called another name in Go than the first part of its
// own.
const goNameMarker = "groupGoName"

// goName is what a clientset calls the group and the version.
func (v *apiVersion) goName() string {
	first, _, _ := strings.Cut(v.group, ".")
	if name, _ := marker.Get[string](v.Markers(), goNameMarker); name != "" {
		first = name
	}
	return strings.ToLower(first) + "/" + path.Base(v.Path)
}
