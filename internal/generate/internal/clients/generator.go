package clients

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codegen/wire"
	"github.com/slipway-dev/slipway/internal/generate/internal/crd"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

// Options are those of the generator clients. Its folders are laid out as
// Kubernetes' kube_codegen.sh does it.
type Options struct {
	Dir              string   `doc:"is the folder that everything is put into; its import path follows from its module"`
	Groups           []string `marker:",optional" doc:"are the API groups to generate for; all that have types with +genclient if it is left out"`
	HeaderFile       string   `marker:",optional" doc:"is the file with name a file with the first lines of generated files"`
	PluralExceptions []string `marker:",optional" doc:"are plurals that English rules do not give: Kind:Plurals"`
	Externals        []string `marker:",optional" doc:"are apply configurations of types of other packages: <package>.<type>@<package of its apply configuration>"`
}

// The folders below Options.Dir.
const (
	clientsetFolder = "clientset"
	clientsetName   = "versioned"
	applyFolder     = "applyconfiguration"
	listersFolder   = "listers"
	informersFolder = "informers"
)

// Generator returns the generator "clients".
func Generator() generator.Generator {
	g := generator.New("clients", "writes typed clientsets, informers, listers and apply configurations", markers(), run)
	g.Noted = true
	return g
}

func markers() []marker.Definition {
	const on = marker.Type
	flag := func(name, doc string) marker.Definition { return marker.Define[marker.Raw](name, on, doc).Optional() }
	own := marker.In("clients",
		flag("genclient", "requests a typed client"),
		flag("genclient:nonNamespaced", "makes the client cluster-scoped"),
		flag("genclient:noStatus", "leaves out UpdateStatus"),
		flag("genclient:noVerbs", "leaves out all methods except those of genclient:method"),
		flag("genclient:readonly", "leaves out all methods except get, list and watch"),
		marker.Define[verbs]("genclient:onlyVerbs", on, "lists the only methods to generate"),
		marker.Define[verbs]("genclient:skipVerbs", on, "lists methods to leave out"),
		flag("genclient:method", "adds a method: <name>,verb=<verb>,subresource=<path>,input=<type>,result=<type>"),
		marker.Define[string](goNameMarker, marker.Package, "is the name of the group in Go; default: the first part of its name"),
		marker.Define[string](resourceMarker, on, "is the name of the resource; default: that of the CRD"),
	)
	return append(own, crd.Markers()...)
}

func run(ctx context.Context, pass *generator.Pass, options Options) error {
	out, err := outputOf(pass, options)
	if err != nil {
		return err
	}
	found := find(pass, options.Groups)
	if found.failed {
		return nil
	}
	if len(found.versions) == 0 {
		return found.nothing(options.Groups)
	}
	out.externals, err = externalsOf(options.Externals)
	if err != nil {
		return err
	}
	jobs := newJobs(pass)
	jobs.matching = true
	if err := jobs.add(found.packages(), out.runs(found.versions, true)); err != nil {
		return err
	}
	jobs.requests[0].without = out.runs(found.versions, false)
	if err := jobs.do(ctx); err != nil {
		return err
	}
	if jobs.failed {
		return nil
	}
	out.removeStale(pass)
	return found.helpers(pass, options.HeaderFile)
}

// output is where clients are put, and what all generators are told.
type output struct {
	dir, pkg  string
	header    []string
	options   Options
	externals map[string]string
}

func outputOf(pass *generator.Pass, options Options) (output, error) {
	dir := filepath.FromSlash(options.Dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(pass.Dir, dir)
	}
	m, err := moduleOf(pass.Loader, dir)
	if err != nil {
		return output{}, err
	}
	rel, err := filepath.Rel(m.dir, dir)
	if err != nil {
		return output{}, err
	}
	if rel == "." {
		return output{}, &report.Error{What: "clients need their own folder", Where: dir, Hint: "use a folder in the module, like pkg/generated"}
	}
	header, err := headerArgument(pass, options.HeaderFile)
	return output{dir: dir, pkg: path.Join(m.path, filepath.ToSlash(rel)), header: header, options: options}, err
}

// Package is the import path below which a run makes clients; "" if it is in no module.
func (o Options) Package(loader *load.Loader, dir string) string {
	out, err := outputOf(&generator.Pass{Loader: loader, Dir: dir}, Options{Dir: o.Dir})
	if err != nil {
		return "" // the run reports it
	}
	return out.pkg
}

// arguments are those that all generators have, for the folder called name.
func (o output) arguments(name string, more ...string) []string {
	arguments := append([]string{"--output-dir", filepath.Join(o.dir, name), "--output-pkg", path.Join(o.pkg, name)}, o.header...)
	return append(arguments, more...)
}

// runs are the runs of the four generators, in the order of kube_codegen.sh, or of three without apply configurations.
func (o output) runs(versions []*apiVersion, apply bool) []wire.Run {
	packages := make([]string, len(versions))
	var inputs []string
	for i, v := range versions {
		packages[i] = v.Path
		inputs = append(inputs, "--input", v.Path)
	}
	plurals := []string{"--plural-exceptions", strings.Join(o.options.PluralExceptions, ",")}
	clientset := append([]string{"--clientset-name", clientsetName, "--input-base", ""}, inputs...)
	if apply {
		clientset = append(clientset, "--apply-configuration-package", path.Join(o.pkg, applyFolder))
	}
	informers := []string{
		"--versioned-clientset-package", path.Join(o.pkg, clientsetFolder, clientsetName),
		"--listers-package", path.Join(o.pkg, listersFolder),
	}
	groups := groups(versions)
	all := slices.Concat(groups, resources(versions))
	runs := []wire.Run{
		{Generator: wire.ApplyConfigurations, Packages: packages, Arguments: o.arguments(applyFolder), Tags: groups, Externals: o.externals},
		{Generator: wire.Clientset, Packages: packages, Arguments: o.arguments(clientsetFolder, append(clientset, plurals...)...), Tags: all},
		{Generator: wire.Listers, Packages: packages, Arguments: o.arguments(listersFolder, plurals...), Tags: groups},
		{Generator: wire.Informers, Packages: packages, Arguments: o.arguments(informersFolder, append(informers, plurals...)...), Tags: all},
	}
	if !apply {
		return runs[1:]
	}
	return runs
}

// resourceMarker is the marker by which code-generator is told what the resource of a type is called.
const resourceMarker = "resourceName"

// groups tell the generators the groups of packages, which they look for in doc.go alone.
func groups(versions []*apiVersion) []wire.Tag {
	var tags []wire.Tag
	for _, v := range versions {
		tags = append(tags, wire.Tag{Package: v.Path, Text: "+groupName=" + v.group})
	}
	return tags
}

// resources tell the generators under which names the definitions have the types served. Their own plurals know fewer
// of the words that have none, such as fish, and nothing of the markers.
func resources(versions []*apiVersion) []wire.Tag {
	var tags []wire.Tag
	for _, v := range versions {
		for _, d := range v.types {
			if !d.Markers().Has(resourceMarker) {
				tags = append(tags, wire.Tag{Package: v.Path, Type: d.Name(), Text: "+" + resourceMarker + "=" + crd.Plural(d.Name(), d.Markers())})
			}
		}
	}
	return tags
}

// folders are those of each generator, with the line that its files have.
func (o output) folders() map[string]string {
	folders := make(map[string]string)
	for name, program := range map[string]string{
		applyFolder: wire.ApplyConfigurations, clientsetFolder: wire.Clientset,
		listersFolder: wire.Listers, informersFolder: wire.Informers,
	} {
		folders[filepath.Join(o.dir, name)] = "// Code generated by " + program + ". DO NOT EDIT."
	}
	return folders
}

// removeStale removes what earlier runs generated and this one did not, such as
// the client of a kind that is gone. Files that are not generated stay.
func (o output) removeStale(pass *generator.Pass) {
	var made []string
	for _, f := range pass.Files() {
		made = append(made, f.Path)
	}
	for folder, line := range o.folders() {
		for _, path := range generatedFiles(folder, line) {
			if !slices.Contains(made, path) {
				pass.Remove(path)
			}
		}
	}
}

// apiVersion is a package with types that ask for clients.
type apiVersion struct {
	*load.Package
	group string
	types []*load.TypeDecl
}
