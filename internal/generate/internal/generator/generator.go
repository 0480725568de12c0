// Package generator is what a generator is made of: a value with a name, its
// markers, its options and a function that runs it.
//
//	type Options struct {
//		HeaderFile string `marker:"headerFile,optional"`
//		Year       string `marker:"year,optional"`
//	}
//
//	func Generator() generator.Generator {
//		return generator.New("object", "writes DeepCopy methods", markers(), run)
//	}
//
//	func run(ctx context.Context, pass *generator.Pass, options Options) error {
//		for _, root := range pass.Roots {
//			…
//			pass.Code(root, "zz_generated.deepcopy.go", content)
//		}
//		return nil
//	}
//
// A generator writes nothing itself: it hands its files to the [Pass], and all
// files of a run are written together once every generator is done. Mistakes in
// the user's code go to [Pass.Report] and stop only what depends on them; the
// error of a run is for failures of the tool or its configuration.
package generator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// Generator is one generator. Make it with [New].
type Generator struct {
	// Name is what users call it: crd, object, rbac.
	Name string
	// Doc is a phrase that continues "It …".
	Doc string
	// Markers are those that it reads.
	Markers []marker.Definition
	// Options is its definition as a marker: name:option=value,option=value.
	Options marker.Definition

	// Noted is set when all that the generator reads comes from its [Pass], so that
	// a run in which nothing has changed since the last one need not be repeated.
	Noted bool

	run func(ctx context.Context, pass *Pass, options any) error
}

// New makes a generator whose options are the fields of O, see [marker.Define].
func New[O any](name, doc string, markers []marker.Definition, run func(ctx context.Context, pass *Pass, options O) error) Generator {
	return Generator{
		Name:    name,
		Doc:     doc,
		Markers: markers,
		Options: marker.Define[O](name, marker.Package, doc),
		run: func(ctx context.Context, pass *Pass, options any) error {
			return run(ctx, pass, options.(O))
		},
	}
}

// Run runs the generator with options, a value that its Options parsed to.
func (g Generator) Run(ctx context.Context, pass *Pass, options any) error {
	return g.run(ctx, pass, options)
}

// Pass is one run of one generator: what it reads and where it puts its files.
// Its methods may be called by several goroutines.
type Pass struct {
	// Roots are the user's packages, ordered by folder.
	Roots []*load.Package
	// Loader is where Roots come from.
	Loader *load.Loader
	// ToolVersion is what generated files say about the program that wrote them.
	ToolVersion string
	// Program is the name of that program where it is not controller-gen.
	Program string
	// Dir is the folder that relative paths in options are relative to.
	Dir string
	// Codegen runs Kubernetes' own code generators.
	Codegen *codegen.Finder
	// Last is what the generator remembers of the last run.
	Last Memory

	mu     sync.Mutex
	files  []File
	memory Memory
}

// File is a file that a generator made.
type File struct {
	// Package is the package that the file is code of; nil for configuration.
	Package *load.Package
	// Name is relative to the package's or the configuration's folder.
	Name    string
	Content []byte
	// Path is absolute and means a file that has its place, whatever the output
	// rules say; Package and Name are then empty.
	Path string
	// Remove is set for a file at Path that is to go.
	Remove bool
	// Source finds what in the code a place in the file comes from; nil when that cannot be reported.
	Source Source
	// Kept is set for a file that is on disk as it would be made again. It comes without its content.
	Kept bool
}

// A Source finds what in the user's code a place in a generated file comes from. The form
// of paths is the generator's own.
type Source interface {
	Locate(path string) report.Position
	// Recursion is the name of the type at path if it contains itself there, else "".
	Recursion(path string) string
	// Unbounded lists the fields that make a rule at path costly, since nothing bounds their length.
	Unbounded(path string) []string
}

// Code adds a file that belongs to a package's code.
func (p *Pass) Code(pkg *load.Package, name string, content []byte) {
	p.add(File{Package: pkg, Name: name, Content: content})
}

// Config adds a file that is configuration.
func (p *Pass) Config(name string, content []byte) {
	p.add(File{Name: name, Content: content})
}

// Traced adds a file that is configuration, with the way back to the code.
func (p *Pass) Traced(name string, content []byte, source Source) {
	p.add(File{Name: name, Content: content, Source: source})
}

// At adds a file that has its place, whatever the output rules say.
func (p *Pass) At(path string, content []byte) {
	p.add(File{Path: path, Content: content})
}

// Remove has a file removed that an earlier run made and that is not needed any more.
func (p *Pass) Remove(path string) {
	p.add(File{Path: path, Remove: true})
}

func (p *Pass) add(f File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = append(p.files, f)
}

// Files are the files added so far, in order.
func (p *Pass) Files() []File {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files
}

// Report adds findings about the user's code.
func (p *Pass) Report(findings ...report.Finding) { p.Loader.Report(findings...) }

// Header reads name a file with the first lines of generated files from a file, replacing
// " YEAR" by the year; no file means no text.
func (p *Pass) Header(file, year string) (string, error) {
	if file == "" {
		return "", nil
	}
	path := file
	if !filepath.IsAbs(file) {
		path = filepath.Join(p.Dir, file)
	}
	data, err := p.Loader.ReadFile(path)
	if err != nil {
		return "", noHeader(file, path, err)
	}
	return strings.ReplaceAll(string(data), " YEAR", " "+year), nil
}

// noHeader is the refusal of an option that names a file which cannot be read.
func noHeader(option, path string, err error) error {
	e := &report.Error{Class: report.BadProject, What: "header file cannot be read", Where: path, Err: err,
		Hint: "headerFile=" + option + " names it: write the first lines of generated files into it; an empty file stands for none"}
	if errors.Is(err, fs.ErrNotExist) {
		e.Next = "mkdir -p " + shellword.Quote(filepath.Dir(path)) + " && touch " + shellword.Quote(path)
	}
	return e
}

// Validate reports the first thing that is wrong with a list of generators.
func Validate(generators []Generator) error {
	seen := make(map[string]bool)
	for _, g := range generators {
		switch {
		case g.Name == "" || g.run == nil:
			return fmt.Errorf("generator %q was not made by generator.New", g.Name)
		case g.Doc == "":
			return fmt.Errorf("generator %s has no doc", g.Name)
		case seen[g.Name]:
			return fmt.Errorf("two generators are named %s", g.Name)
		}
		seen[g.Name] = true
		if _, err := marker.NewRegistry(append(g.Markers, g.Options)...); err != nil {
			return fmt.Errorf("generator %s: %w", g.Name, err)
		}
	}
	return nil
}
