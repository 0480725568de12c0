package clients

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/codegen/wire"
	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/generate/internal/apply"
	"github.com/slipway-dev/slipway/internal/generate/internal/crd"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/report"
)

const (
	applyMarker       = "kubebuilder:ac:generate"
	applyOutputMarker = "kubebuilder:ac:output:package"
)

// ApplyOptions are those of controller-gen's applyconfiguration generator.
type ApplyOptions struct {
	HeaderFile                  string   `marker:",optional" doc:"is the file with name a file with the first lines of generated files"`
	ExternalApplyConfigurations []string `marker:",optional" doc:"are apply configurations of types of other packages: <package>.<type>@<package of its apply configuration>"`
	OmitToolVersion             *bool    `doc:"has generated files say that controller-gen wrote them, also where the program's name tells its version"`
}

// ApplyGenerator returns the generator "applyconfiguration".
func ApplyGenerator() generator.Generator {
	own := marker.In("apply",
		marker.Define[bool](applyMarker, marker.Package, "sets whether the package's resources get apply configurations"),
		marker.Define[bool](applyMarker, marker.Type, "sets whether this type gets an apply configuration, even if it is not a resource"),
		marker.Define[string](applyOutputMarker, marker.Package, "is the folder of the apply configurations, relative to the package's; default: applyconfiguration"),
	)
	g := generator.New("applyconfiguration", "writes apply configurations, for typed server-side apply", append(own, crd.Markers()...), runApply)
	g.Noted = true
	return g
}

func runApply(ctx context.Context, pass *generator.Pass, options ApplyOptions) error {
	externals, err := externalsOf(options.ExternalApplyConfigurations)
	if err != nil {
		return err
	}
	header, err := yearHeader(pass, options.HeaderFile)
	if err != nil {
		return err
	}
	a := &applier{pass: pass, options: options, externals: externals, header: header, jobs: newJobs(pass), edition: pass.Loader.Edition().Apply}
	a.form, a.formed = apply.FormOf(a.edition.Generators)
	a.jobs.version = a.edition.Generators
	return a.all(ctx)
}

// all makes the apply configurations of all packages.
func (a *applier) all(ctx context.Context) error {
	pass := a.pass
	a.builder = schema.NewBuilder(pass.Loader, structureOptions())
	for _, root := range pass.Roots {
		if err := ctx.Err(); err != nil {
			return err
		}
		if yes, _ := marker.Get[bool](root.Markers(), applyMarker); !yes || root.Broken() {
			continue
		}
		if err := a.apply(root); err != nil {
			return err
		}
	}
	return a.jobs.do(ctx)
}

// applier has the apply configurations of packages made, one after the other.
type applier struct {
	pass      *generator.Pass
	edition   edition.Apply
	form      apply.Form
	formed    bool // the form is known
	options   ApplyOptions
	externals map[string]string
	header    string
	builder   *schema.Builder
	jobs      *jobs // of Kubernetes' own generator, for what ours does not support
}

// apply makes those of one package, or leaves them to Kubernetes' own generator.
func (a *applier) apply(root *load.Package) error {
	unit := a.pass.Unit("applyconfiguration", root)
	if unit.Stands() {
		unit.Keep()
		return nil
	}
	group, ok := marker.Get[string](root.Markers(), "groupName")
	if !ok && a.edition.Group {
		a.pass.Report(report.Finding{
			Rule:     report.RuleClients,
			Position: positionOf(a.pass, root, applyMarker),
			Message:  "apply configurations need the package's API group; add // +groupName=<group> to the package", Fatal: true,
		})
		return nil
	}
	if !a.formed || !a.edition.Structure {
		unit.Forget()
		return a.leave(root, group)
	}
	files, err := a.files(root, group)
	if errors.Is(err, apply.ErrUnsupported) || errors.Is(err, schema.ErrNoStructure) {
		unit.Forget()
		a.pass.Loader.Note("apply configurations of " + root.Path + " by Kubernetes' own generator: " + err.Error())
		return a.leave(root, group)
	}
	for _, f := range files {
		unit.At(f.Path, f.Content)
	}
	return err
}

// files are the apply configurations of a package.
func (a *applier) files(root *load.Package, group string) ([]apply.File, error) {
	folder := applyFolderOf(root)
	request := apply.Request{
		Form: a.form, Package: root, Group: group, Types: appliedTypes(root), Externals: a.externals,
		Dir: filepath.Join(root.Dir, filepath.FromSlash(folder)), Path: path.Join(root.Path, folder),
		Header: a.header, Program: a.program(),
	}
	for _, d := range request.Types {
		if scope, _ := crd.Scope(d.Markers()); scope == "Cluster" && a.edition.Scope {
			request.ClusterScoped = append(request.ClusterScoped, d)
		}
	}
	request.Structure = func(objects []*load.TypeDecl) ([]byte, error) { return a.builder.Structure(a.described(root), objects) }
	return apply.Files(request)
}

// program is what files report to be written by.
func (a *applier) program() string {
	if omit := a.options.OmitToolVersion; a.pass.Program != "" && (omit == nil || !*omit) {
		return a.pass.Program
	}
	return "controller-gen"
}

// leave asks Kubernetes' own generator for the apply configurations of a package.
func (a *applier) leave(root *load.Package, group string) error {
	header, err := headerArgument(a.pass, a.options.HeaderFile)
	if err != nil {
		return err
	}
	run, err := a.run(root, group)
	if err != nil {
		return err
	}
	run.Name = a.program()
	run.Arguments = append(run.Arguments, header...)
	run.Externals = a.externals
	return a.jobs.add([]*load.Package{root}, []wire.Run{*run})
}

// described are the types whose structure is described.
func (a *applier) described(root *load.Package) []*load.TypeDecl {
	if !a.edition.Kinds {
		return appliedTypes(root)
	}
	return slices.DeleteFunc(slices.Clone(root.Decls()), func(d *load.TypeDecl) bool {
		_, resource := crd.Scope(d.Markers())
		return !resource
	})
}

// run is the run of Kubernetes' own generator for one package.
func (a *applier) run(p *load.Package, group string) (*wire.Run, error) {
	e := a.edition
	folder := applyFolderOf(p)
	run := wire.Run{
		Generator: wire.ApplyConfigurations,
		Arguments: []string{"--output-dir", filepath.Join(p.Dir, filepath.FromSlash(folder)), "--output-pkg", path.Join(p.Path, folder)},
		Packages:  []string{p.Path},
	}
	if e.Group {
		run.Tags = []wire.Tag{{Package: p.Path, Text: "+groupName=" + group}}
	}
	applied := appliedTypes(p)
	for _, d := range applied {
		run.Tags = append(run.Tags, wire.Tag{Package: p.Path, Type: d.Name(), Text: "+genclient"})
		if scope, _ := crd.Scope(d.Markers()); scope == "Cluster" && e.Scope {
			run.Tags = append(run.Tags, wire.Tag{Package: p.Path, Type: d.Name(), Text: "+genclient:nonNamespaced"})
		}
	}
	described := a.described(p)
	if len(described) == 0 || !e.Structure {
		return &run, nil
	}
	var err error
	run.Schema, err = structure(a.pass.Loader, described)
	return &run, err
}

// applyFolderOf is the folder of a package's apply configurations, relative to the package's.
func applyFolderOf(p *load.Package) string {
	folder, _ := marker.Get[string](p.Markers(), applyOutputMarker)
	if folder == "" && !p.Markers().Has(applyOutputMarker) {
		return "applyconfiguration"
	}
	return folder
}

// ApplyPackages are the import paths below which a run makes the apply configurations of the packages.
func ApplyPackages(roots []*load.Package) []string {
	var paths []string
	for _, root := range roots {
		if yes, _ := marker.Get[bool](root.Markers(), applyMarker); yes {
			paths = append(paths, path.Join(root.Path, applyFolderOf(root)))
		}
	}
	return paths
}

// appliedTypes are the types of a package that get apply configurations of their own.
func appliedTypes(p *load.Package) []*load.TypeDecl {
	var applied []*load.TypeDecl
	for _, d := range p.Decls() {
		_, wanted := crd.Scope(d.Markers())
		if yes, found := marker.Get[bool](d.Markers(), applyMarker); found {
			wanted = yes
		}
		if wanted {
			applied = append(applied, d)
		}
	}
	return applied
}

// structure describes types, and all that they consist of, to the generator.
func structure(loader *load.Loader, types []*load.TypeDecl) ([]byte, error) {
	return schema.NewBuilder(loader, structureOptions()).OpenAPI(types)
}

func structureOptions() schema.Options {
	return schema.Options{AllowDangerousTypes: true, IgnoreUnexportedFields: true, FullObjectMeta: true}
}

// externalsOf reads options of the form <package>.<type>@<package of apply configurations>.
func externalsOf(options []string) (map[string]string, error) {
	externals := make(map[string]string, len(options))
	for _, option := range options {
		name, pkg, found := strings.Cut(option, "@")
		if !found {
			return nil, &report.Error{What: fmt.Sprintf("invalid external apply configuration %q", option), Where: "applyconfiguration:externalApplyConfigurations",
				Hint: "<package>.<type>@<package of its apply configuration>, like k8s.io/api/core/v1.LocalObjectReference@k8s.io/client-go/applyconfigurations/core/v1"}
		}
		externals[name] = pkg
	}
	return externals, nil
}

// yearHeader is the text that generated files begin with. Kubernetes' generators replace YEAR in it wherever it stands.
func yearHeader(pass *generator.Pass, file string) (string, error) {
	text, err := pass.Header(file, "YEAR")
	return strings.ReplaceAll(text, "YEAR", strconv.Itoa(time.Now().UTC().Year())), err
}

// headerArgument is the generators' argument for the file that generated ones begin with.
func headerArgument(pass *generator.Pass, file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	if _, err := pass.Header(file, ""); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(pass.Dir, file)
	}
	return []string{"--go-header-file", file}, nil
}

// positionOf is the place of a package's marker, or else its folder.
func positionOf(pass *generator.Pass, p *load.Package, name string) report.Position {
	values := p.Markers()
	for i := range values {
		if values[i].Definition.Name == name {
			return pass.Loader.Position(values[i].Pos)
		}
	}
	return report.Position{File: p.Dir}
}
