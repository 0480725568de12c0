package generate

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/generate/internal/clients"
	"github.com/slipway-dev/slipway/generate/internal/crd"
	"github.com/slipway-dev/slipway/generate/internal/deepcopy"
	"github.com/slipway-dev/slipway/generate/internal/generator"
	"github.com/slipway-dev/slipway/generate/internal/load"
	"github.com/slipway-dev/slipway/generate/internal/manifest"
	"github.com/slipway-dev/slipway/generate/internal/marker"
	"github.com/slipway-dev/slipway/generate/internal/rbac"
	"github.com/slipway-dev/slipway/generate/internal/schemapatch"
	"github.com/slipway-dev/slipway/generate/internal/webhook"
	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/report"
)

// Generator is one generator: its name, what it does, its markers and options.
type Generator = generator.Generator

// Generators returns all generators, in the order in which help lists them.
func Generators() []Generator {
	return []Generator{crd.Generator(), deepcopy.Generator(), rbac.Generator(), webhook.Generator(), schemapatch.Generator(), clients.ApplyGenerator()}
}

// Options say what to generate.
type Options struct {
	// Dir is the folder that Paths and the paths in options are relative to; ""
	// is the current one.
	Dir string
	// Paths are the packages to read, as folders or import paths, with /... for
	// all below. None means ./...
	Paths []string
	// Uses are the generators to run.
	Uses []Use
	// Tags are build tags. Nil means the one that hides generated files.
	Tags []string
	// Version is what generated files say about the program that wrote them, like
	// "slipway-v1.2.3".
	Version string
	// Strict makes misspelt and misplaced markers fatal, which are warnings else.
	Strict bool
	// Lenient forgives what controller-gen forgives: of several files with the same
	// path the last one is written.
	Lenient bool
	// Cache is a folder of the user's that remembers what runs have read and written,
	// so that one in which nothing has changed is over at once: then [Result.Recalled]
	// is set. Empty does everything each time.
	Cache string
	// DryRun plans all files and writes none.
	DryRun bool
	// Events receives notes about what took a longer way, and a report.Step for
	// each stage that ends: load, each generator by its name, and write. Generators
	// run at once and share what they load, so their times overlap. Nil discards all.
	Events report.Handler
	// Codegen runs Kubernetes' own code generators when one of Uses needs them. Nil
	// is a finder for the running process that tells Events what it does.
	Codegen *codegen.Finder
}

// Use is one generator of a run.
type Use struct {
	// Name is the generator's name.
	Name string
	// Options are its options as after the colon of a marker:
	// maxDescLen=80,headerFile=hack/boilerplate.yaml.txt
	Options string
	// Output says where its files go.
	Output Output
}

// Result is what a run did.
type Result struct {
	// Files are all files that the generators made, in the order of Uses.
	Files []File
	// Printed is what outputs to stdout hold, in the order of Uses.
	Printed []byte
	// Findings are the mistakes in the user's code, by position.
	Findings []report.Finding
	// Parsed is the number of Go files that were parsed, Checked that of packages
	// that had to be type-checked because syntax alone did not tell enough.
	Parsed, Checked int
	// Recalled is set when nothing has changed since an earlier run with the same
	// options. All files are up to date then, and their content is not told.
	Recalled bool

	manifest *manifest.Manifest
	parts    []Result // what it was joined from
}

// Join is one result of several runs, of which each began when those before it had not failed.
func Join(results ...Result) Result {
	all := Result{Recalled: len(results) > 0, parts: results}
	for _, r := range results {
		all.Files = append(all.Files, r.Files...)
		all.Printed = append(all.Printed, r.Printed...)
		all.Findings = append(all.Findings, r.Findings...)
		all.Parsed += r.Parsed
		all.Checked += r.Checked
		all.Recalled = all.Recalled && r.Recalled
	}
	return all
}

// Failed reports whether a finding is fatal. Then nothing was written.
func (r Result) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Fatal })
}

// File is a file that a generator made.
type File struct {
	Path string // absolute
	// Action is what happened to it or, without writing, would happen.
	Action  report.Action
	Content []byte

	remove bool // it is to go
	source generator.Source
	dir    string
}

// Locate finds the Go declaration, or the marker, that a place in a CRD comes from: the place is given as the API server writes
// it, like spec.versions[0].schema.openAPIV3Schema.properties[spec], and the file found is relative to the run's folder where
// it is below that. Ok is false for files that are no CRDs.
func (f File) Locate(path string) (at report.Position, ok bool) {
	if f.source == nil {
		return report.Position{}, false
	}
	found := relative([]report.Finding{{Position: f.source.Locate(path)}}, f.dir)
	return found[0].Position, true
}

// Run runs the generators. Nothing is written if it returns an error before the
// first file is, which is when all of them are known.
func Run(ctx context.Context, options Options) (Result, error) {
	last, kept := recall(options)
	if last.Recalled {
		if options.Events != nil {
			options.Events.Handle(report.Note{Text: "nothing was read: no input and no output has changed since the last run"})
		}
		return last, nil
	}
	r, err := newRun(ctx, options)
	if err != nil {
		return Result{}, err
	}
	done := r.stage("load")
	roots, err := r.loader.Roots(ctx, r.paths...)
	done()
	if err != nil {
		return Result{}, err
	}
	made, err := r.generate(ctx, roots)
	if err != nil {
		return Result{}, err
	}
	if err := r.loader.Missing(); err != nil {
		return Result{}, err
	}
	result := Result{
		Files:    made.files,
		Printed:  made.printed,
		Findings: relative(r.loader.Findings(), r.dir),
		Parsed:   r.loader.Parsed(),
		Checked:  r.loader.Checked(),
		manifest: kept,
	}
	if err := compare(result.Files); err != nil {
		return result, err
	}
	if options.DryRun || result.Failed() {
		return result, nil
	}
	defer r.stage("write")()
	if err := write(ctx, result.Files); err != nil {
		return result, err
	}
	r.save(result)
	return result, nil
}

// stage begins a stage; the function that it returns tells the time at its end.
func (r *run) stage(name string) func() {
	begin := time.Now()
	return func() { r.events.Handle(report.Step{Name: name, Elapsed: time.Since(begin)}) }
}

// run is a run with its options understood.
type run struct {
	dir     string
	paths   []string
	version string
	strict  bool
	lenient bool
	events  report.Handler
	loader  *load.Loader
	inputs  *manifest.Inputs
	codegen *codegen.Finder
	uses    []use
}

// use is a generator that will run.
type use struct {
	generator.Generator
	options any
	output  Output
}

func newRun(ctx context.Context, options Options) (*run, error) {
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, err
	}
	all := append(Generators(), clients.Generator()) // which controller-gen does not have
	if err := generator.Validate(all); err != nil {
		return nil, err
	}
	r := &run{dir: dir, paths: options.Paths, version: cmp.Or(options.Version, "slipway"), strict: options.Strict, lenient: options.Lenient, events: options.Events}
	if r.events == nil {
		r.events = report.Discard
	}
	if r.codegen = options.Codegen; r.codegen == nil {
		r.codegen = codegen.NewFinder(os.Getenv, r.events)
	}
	if len(r.paths) == 0 {
		r.paths = []string{"./..."}
	}
	if r.uses, err = chosen(all, options.Uses); err != nil {
		return nil, err
	}
	registry, err := registryFor(r.uses, all)
	if err != nil {
		return nil, err
	}
	if options.Cache != "" {
		r.inputs = manifest.NewInputs()
	}
	r.loader = load.New(load.Config{Inputs: r.inputs, Context: ctx, Dir: dir, Tags: options.Tags, Registry: registry, Notes: r.events})
	return r, nil
}

// registryFor knows the markers of the generators that run, and the names of the
// others' so that it takes none of them for misspelt.
func registryFor(uses []use, all []Generator) (*marker.Registry, error) {
	var definitions []marker.Definition
	for _, g := range all {
		if slices.ContainsFunc(uses, func(u use) bool { return u.Name == g.Name }) {
			definitions = withNew(definitions, g.Markers)
		}
	}
	registry, err := marker.NewRegistry(definitions...)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(laterMarkers)
	for _, g := range all {
		for _, d := range g.Markers {
			names = append(names, d.Name)
		}
	}
	return registry.AlsoKnown(names...), nil
}

// withNew adds the definitions that are not there: several generators read some markers.
func withNew(definitions, more []marker.Definition) []marker.Definition {
	for _, d := range more {
		same := func(other marker.Definition) bool { return other.Name == d.Name && other.Target == d.Target }
		if !slices.ContainsFunc(definitions, same) {
			definitions = append(definitions, d)
		}
	}
	return definitions
}

// laterMarkers are read by programs that work on the same code.
var laterMarkers = []string{
	"k8s:conversion-gen", "k8s:defaulter-gen", "k8s:openapi-gen", "k8s:protobuf-gen",
	"groupGoName", "resourceName",
}

// generate runs all generators at once and returns what they made.
func (r *run) generate(ctx context.Context, roots []*load.Package) (made, error) {
	passes := make([]*generator.Pass, len(r.uses))
	group, ctx := errgroup.WithContext(ctx)
	for i, u := range r.uses {
		passes[i] = &generator.Pass{Roots: roots, Loader: r.loader, Dir: r.dir, ToolVersion: r.version, Codegen: r.codegen}
		group.Go(func() error {
			defer r.stage(u.Name)()
			return u.Run(ctx, passes[i], u.options)
		})
	}
	group.Go(func() error {
		for _, root := range roots {
			root.Lint(r.strict)
			root.CheckSyntax()
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return made{}, err
	}
	return r.collect(passes)
}

// made is what the generators made, apart from findings.
type made struct {
	files   []File
	printed []byte
}

// collect sends the files of each generator where its output rule says.
func (r *run) collect(passes []*generator.Pass) (made, error) {
	var m made
	for i, u := range r.uses {
		for _, f := range passes[i].Files() {
			switch {
			case f.Path != "":
				m.files = append(m.files, File{Path: f.Path, Content: f.Content, remove: f.Remove})
			case u.output.To == ToNothing:
			case u.output.To == ToStdout:
				m.printed = append(m.printed, f.Content...)
			default:
				path, err := u.output.path(r.dir, u.Name, f)
				if err != nil {
					return made{}, err
				}
				m.files = append(m.files, File{Path: path, Content: f.Content, source: f.Source, dir: r.dir})
			}
		}
	}
	var err error
	m.files, err = r.once(m.files)
	return m, err
}

// relative shortens the paths of findings below dir.
func relative(findings []report.Finding, dir string) []report.Finding {
	for i := range findings {
		rel, err := filepath.Rel(dir, findings[i].File)
		if err == nil && !strings.HasPrefix(rel, "..") {
			findings[i].File = rel
		}
	}
	return findings
}
