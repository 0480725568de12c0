package load

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/internal/generate/internal/inputs"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
)

// packageKey identifies a package: one import path may mean different code in
// two modules that are loaded together.
type packageKey struct {
	modules *modules
	path    string
}

// Package is a Go package as far as something asked for it.
type Package struct {
	Path string // import path
	Dir  string // absolute
	// Root is set for packages that the patterns named, the user's own.
	Root bool

	loader  *Loader
	modules *modules
	facts   *Facts // of a package in which nothing has changed

	naming  sync.Once
	name    string
	read    sync.Once
	sources []*source // all files that the build constraints choose, by name
	leftOut []string  // the paths of the others

	parse   sync.Once
	files   []*File
	decls   []*TypeDecl
	byName  map[string]*TypeDecl
	methods map[string][]*Method

	consts       sync.Once
	constFiles   []*File
	values       sync.Once
	valueFiles   []*File
	markers      sync.Once
	markerValues marker.Values
	broken       bool
	check        sync.Once
	checkedTypes *checkedPackage
}

// Loader is the loader that p came from.
func (p *Package) Loader() *Loader { return p.loader }

// Name is the name in the package clause, or "" for a package without files. It
// takes one file to know it, so that asking many packages is cheap.
func (p *Package) Name() string {
	p.naming.Do(func() {
		if p.facts != nil {
			p.name = p.facts.Name
			return
		}
		p.name = p.nameUnder(p.loader.build)
	})
	return p.name
}

// nameUnder is the name in the package clause of the first file that the constraints choose.
func (p *Package) nameUnder(build *constraints) string {
	inputs := p.loader.inputsAt(p.Dir)
	names, err := goFileNames(inputs, p.Dir)
	if err != nil {
		return "" // reading the package reports it
	}
	for _, file := range names {
		if name := p.loader.packageName(build, inputs, filepath.Join(p.Dir, file)); name != "" {
			return name
		}
	}
	return ""
}

// isGenerated tells of a package without files whether it has some for a compiler, to which generated files are files.
func (p *Package) isGenerated() bool {
	tags := slices.DeleteFunc(slices.Clone(p.loader.build.context.BuildTags), func(tag string) bool { return tag == GeneratedTag })
	return p.nameUnder(newConstraints(p.loader.env, tags)) != ""
}

// GoFiles are the paths of the files that belong to the build, by name. Tests
// are not among them.
func (p *Package) GoFiles() []string {
	p.readSources()
	paths := make([]string, len(p.sources))
	for i, s := range p.sources {
		paths[i] = s.path
	}
	return paths
}

// Files are the package's files of interest, by name: those that declare types
// or hold markers.
func (p *Package) Files() []*File {
	p.parseFiles()
	return p.files
}

// Decls are the package's type declarations in the order of files and lines.
func (p *Package) Decls() []*TypeDecl {
	p.parseFiles()
	return p.decls
}

// Decl returns the type declared as name at package level, or nil.
func (p *Package) Decl(name string) *TypeDecl {
	p.parseFiles()
	return p.byName[name]
}

// Import returns the package that the import path means in p's files. The error
// says why it cannot be found.
func (p *Package) Import(path string) (*Package, error) {
	return p.loader.importPackage(p.modules, path)
}

// Local reports whether p is code of a module that is worked on: a root, or a
// package beside the roots that they import.
func (p *Package) Local() bool {
	return p.Root || slices.ContainsFunc(p.modules.mains, func(m mainModule) bool {
		return isBelow(p.Dir, m.dir) && !isBelow(p.Dir, filepath.Join(m.dir, "vendor")) && !isBelow(p.Dir, p.loader.env.modcache())
	})
}

// isBelow tells whether a folder is root or in it.
func isBelow(dir, root string) bool {
	rest, ok := strings.CutPrefix(dir, root)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// Markers are the package's own markers, all files together. Bad values among
// them become findings.
func (p *Package) Markers() marker.Values {
	p.markers.Do(func() {
		if p.Settled() {
			p.parseMarkers(p.facts.comments(p.loader.fset))
			return
		}
		for _, f := range p.Files() {
			p.parseMarkers(f.attached().Package)
		}
	})
	return p.markerValues
}

func (p *Package) parseMarkers(comments []marker.Comment) {
	values, findings := p.loader.config.Registry.Parse(p.loader.fset, comments, marker.Package)
	p.broken = p.broken || len(findings) > 0
	p.loader.Report(findings...)
	p.markerValues = append(p.markerValues, values...)
}

// Lint reports, for a root, the markers that have no effect: no generator knows them, or not
// where they stand. The findings that leave no doubt are fatal if strict.
func (p *Package) Lint(strict bool) {
	if p.Settled() || p.loader.config.Untouched[p.Dir] {
		return
	}
	for _, f := range p.Files() {
		attached, registry := f.attached(), p.loader.config.Registry
		findings := registry.Misspelt(p.loader.fset, slices.Collect(attached.All()))
		findings = append(findings, registry.Misplaced(p.loader.fset, attached)...)
		for i := range findings {
			findings[i].Fatal = findings[i].Fatal && strict
		}
		p.loader.Report(findings...)
	}
}

// CheckSyntax reports, for a root, the mistakes in files that are not of interest
// otherwise, and so all that a parser finds.
func (p *Package) CheckSyntax() {
	if p.Settled() || p.loader.config.Untouched[p.Dir] {
		return
	}
	p.parseFiles()
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, s := range p.sources {
		if !s.interesting {
			group.Go(func() error {
				p.loader.checkSyntax(s)
				return nil
			})
		}
	}
	_ = group.Wait() // the functions report what goes wrong themselves
}

// Broken reports whether one of the package's files or package markers could not
// be read; there are findings that say so.
func (p *Package) Broken() bool {
	p.Markers()
	return p.broken
}

// readSources reads the package's files and chooses those that count.
func (p *Package) readSources() {
	p.read.Do(func() {
		names, err := goFileNames(p.loader.config.Inputs, p.Dir)
		if err != nil {
			p.loader.Report(unreadable(p.Dir, err))
			return
		}
		sources := make([]*source, len(names))
		var group errgroup.Group
		group.SetLimit(8)
		for i, name := range names {
			group.Go(func() error {
				sources[i] = p.loader.readSource(filepath.Join(p.Dir, name))
				return nil
			})
		}
		_ = group.Wait() // the functions report what goes wrong themselves
		for i, s := range sources {
			switch path := filepath.Join(p.Dir, names[i]); {
			case s != nil:
				p.sources = append(p.sources, s)
			case p.loader.LeftOut(path):
				p.leftOut = append(p.leftOut, path)
			}
		}
	})
}

// inputsAt notes what is read in dir to see whether there is a package and what it is
// called, unless that never changes: in downloaded modules and the standard library.
func (l *Loader) inputsAt(dir string) *inputs.Set {
	if isBelow(dir, l.env.modcache()) || isBelow(dir, l.env.goroot()) {
		return nil
	}
	return l.config.Inputs
}

func goFileNames(inputs *inputs.Set, dir string) ([]string, error) {
	entries, err := inputs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if isGoFile(e.Name()) && isReadable(inputs, dir, e) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// isReadable tells whether there is something to read: opening a named pipe, say,
// would wait for ever.
func isReadable(inputs *inputs.Set, dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := inputs.Stat(filepath.Join(dir, e.Name()))
	return err != nil || info.Mode().IsRegular() // a dangling link is told when it is read
}

func isGoFile(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") &&
		name[0] != '_' && name[0] != '.'
}

// parseFiles parses the files of interest and indexes what they declare.
func (p *Package) parseFiles() {
	p.parse.Do(func() {
		p.readSources()
		p.files = p.parseSources(func(s *source) bool { return s.interesting })
		p.byName = make(map[string]*TypeDecl)
		p.methods = make(map[string][]*Method)
		for _, f := range p.files {
			p.index(f)
		}
		p.unaliasReceivers()
	})
}

// parseSources parses the sources that are wanted, concurrently. A syntax error
// is a finding and leaves the file out.
func (p *Package) parseSources(wanted func(*source) bool) []*File {
	files := make([]*File, len(p.sources))
	var group errgroup.Group
	group.SetLimit(8)
	for i, s := range p.sources {
		if wanted(s) {
			group.Go(func() error {
				files[i] = p.loader.parseFile(p, s)
				return nil
			})
		}
	}
	_ = group.Wait() // the functions report what goes wrong themselves
	return slices.DeleteFunc(files, func(f *File) bool { return f == nil })
}
