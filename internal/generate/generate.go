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

	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/generate/internal/clients"
	"github.com/slipway-dev/slipway/internal/generate/internal/crd"
	"github.com/slipway-dev/slipway/internal/generate/internal/deepcopy"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/inputs"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/internal/policy"
	"github.com/slipway-dev/slipway/internal/generate/internal/rbac"
	"github.com/slipway-dev/slipway/internal/generate/internal/schemapatch"
	"github.com/slipway-dev/slipway/internal/generate/internal/webhook"
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
	// Version is the version of controller-gen whose files are written, which CRDs name; empty means [Newest].
	Version string
	// Program is what apply configurations say about the program that wrote them, whose name it is; empty means
	// controller-gen.
	Program string
	// Strict makes misspelt and misplaced markers fatal, which are warnings else.
	Strict bool
	// Lenient is for who expects controller-gen: of several files with the same path the last
	// one is written, and importing a package of generated files alone is a mistake.
	Lenient bool
	// Cache is a folder of the user's that remembers what runs have read and written,
	// so that one in which nothing has changed is over at once: then [Result.Recalled]
	// is set. Empty does everything each time.
	Cache string
	// Within are the folders below which files may be written, links followed; the first is the project's. A
	// run that would have to write elsewhere fails. Nil allows any place.
	Within []string
	// Besides allows files whose paths are not below one of Within, for a user who has named all places. What a link
	// below one leads to elsewhere is refused nevertheless.
	Besides bool
	// Without are absolute paths and patterns of files, or of folders of files, that are not made, since something else
	// changes or removes them. See [Covers].
	Without []string
	// Files are those of the project, where they have been read or will be: each is read once.
	Files fileview.View
	// DryRun plans all files and writes none.
	DryRun bool
	// Replacing, unless it is nil, learns of each file that a run is about to write or remove, and what is there;
	// before is nil where nothing is.
	Replacing func(path string, before []byte)
	// Events receives notes about what took a longer way, a report.Detail of what is being done, and a report.Step for
	// each stage that ends: load, each generator by its name, and write. Generators
	// run at once and share what they load, so their times overlap. Nil discards all.
	Events report.Handler
	// Codegen runs Kubernetes' own code generators when one of Uses needs them. Nil
	// is a finder for the running process that reports Events what it does.
	Codegen *codegen.Finder
}

// Run runs the generators. Nothing is written if it returns an error before the
// first file is, which is when all of them are known.
func Run(ctx context.Context, options Options) (Result, error) {
	p, err := prepare(ctx, options)
	if err != nil || p.result.Failed() {
		return p.result, err
	}
	return p.result, p.write(ctx)
}

// stage begins a stage; the function that it returns tells the time at its end.
func (r *run) stage(name string) func() {
	r.events.Handle(report.Detail{Text: name})
	begin := time.Now()
	return func() { r.events.Handle(report.Step{Name: name, Elapsed: time.Since(begin)}) }
}

// run is a run with its options understood.
type run struct {
	dir     string
	paths   []string
	edition edition.Edition
	program string
	strict  bool
	lenient bool
	without []string
	making  []string // import paths at and below which runs before this one make packages, which are not written yet
	events  report.Handler
	loader  *load.Loader
	inputs  *inputs.Set
	codegen *codegen.Finder
	uses    []use
	last    memory
	passes  []*generator.Pass
}

// use is a generator that will run.
type use struct {
	generator.Generator
	options any
	output  Output
}

// allGenerators are those of controller-gen and our own.
func allGenerators() []Generator {
	return append(Generators(), clients.Generator(), policy.Generator())
}

func newRun(ctx context.Context, options Options, past past) (*run, error) {
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, err
	}
	e := edition.For(cmp.Or(options.Version, Newest))
	if _, err := Supports(e.Version, "", ""); err != nil {
		return nil, err
	}
	all := allGenerators()
	later := laterMarkersOf(e, all)
	all = in(e, all)
	r := &run{dir: dir, paths: options.Paths, edition: e, program: options.Program, strict: options.Strict, lenient: options.Lenient, without: options.Without, events: options.Events}
	if r.events == nil {
		r.events = report.Discard
	}
	if r.codegen = options.Codegen; r.codegen == nil {
		r.codegen = codegen.NewFinder(os.Getenv, r.events)
	}
	if len(r.paths) == 0 {
		r.paths = []string{"./..."}
	}
	if r.uses, err = chosen(e, all, options.Uses); err != nil {
		return nil, err
	}
	registry, err := registryFor(r.uses, all)
	if err != nil {
		return nil, err
	}
	begin := past.begin()
	r.inputs, r.last = begin.inputs, begin.last
	r.inputs.Through(options.Files)
	noteInflections(r.inputs)
	r.loader = load.New(load.Config{Inputs: r.inputs, Settled: begin.settled, Untouched: begin.untouched, Plain: begin.last.Plain, Context: ctx, Dir: dir, Tags: options.Tags, Generated: !options.Lenient, Edition: e, Registry: registry.Reading(e.Syntax).Later(later), Notes: r.events})
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
	r.passes = make([]*generator.Pass, len(r.uses))
	group, ctx := errgroup.WithContext(ctx)
	for i, u := range r.uses {
		r.passes[i] = &generator.Pass{Roots: roots, Loader: r.loader, Dir: r.dir, ToolVersion: r.edition.Version, Program: r.program, Codegen: r.codegen, Last: r.last.of(i)}
		group.Go(func() error {
			defer r.stage(u.Name)()
			return u.Run(ctx, r.passes[i], u.options)
		})
	}
	group.Go(func() error {
		for _, root := range roots {
			root.Lint(r.strict)
			root.CheckSyntax()
		}
		r.loader.CheckImports(roots, append(r.makes(roots), r.making...)...)
		return nil
	})
	if err := group.Wait(); err != nil {
		return made{}, err
	}
	return r.collect()
}

// makes are the import paths at and below which the run makes packages. Code may import them before they are there,
// which controller-gen takes for a mistake: then neither could come first.
func (r *run) makes(roots []*load.Package) []string {
	if r.lenient {
		return nil
	}
	var paths []string
	for _, u := range r.uses {
		switch options := u.options.(type) {
		case clients.ApplyOptions:
			paths = append(paths, clients.ApplyPackages(roots)...)
		case clients.Options:
			if pkg := options.Package(r.loader, r.dir); pkg != "" {
				paths = append(paths, pkg)
			}
		}
	}
	return paths
}

// made is what the generators made, apart from findings.
type made struct {
	files   []File
	left    []string
	printed []byte
}

// collect sends the files of each generator where its output rule says.
func (r *run) collect() (made, error) {
	var m made
	for i, u := range r.uses {
		for _, f := range r.passes[i].Files() {
			switch {
			case f.Path != "":
				m.files = append(m.files, File{Path: f.Path, Content: f.Content, remove: f.Remove, kept: f.Kept})
			case u.output.To == ToNothing:
			case u.output.To == ToStdout:
				m.printed = append(m.printed, f.Content...)
			default:
				path, err := u.path(r.dir, f)
				if err != nil {
					return made{}, err
				}
				m.files = append(m.files, File{Path: path, Content: f.Content, source: f.Source, dir: r.dir, kept: f.Kept})
			}
		}
	}
	m.files = slices.DeleteFunc(m.files, func(f File) bool {
		left := slices.ContainsFunc(r.without, func(pattern string) bool { return Covers(pattern, f.Path) })
		if left {
			m.left = append(m.left, f.Path)
		}
		return left
	})
	slices.Sort(m.left)
	var err error
	if m.files, err = r.once(m.files); err != nil {
		return made{}, err
	}
	slices.SortFunc(m.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return m, readKept(m.files)
}

// Covers reports whether a pattern matches a file, or a folder that it is in. After a folder and **, the pattern's last
// element matches files at any depth of the folder.
func Covers(pattern, file string) bool {
	if folder, name, deep := strings.Cut(pattern, string(filepath.Separator)+"**"+string(filepath.Separator)); deep {
		matched, err := filepath.Match(name, filepath.Base(file))
		return matched && err == nil && Covers(folder, filepath.Dir(file))
	}
	for {
		if matched, err := filepath.Match(pattern, file); matched && err == nil || pattern == file {
			return true
		}
		dir := filepath.Dir(file)
		if dir == file {
			return false
		}
		file = dir
	}
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
