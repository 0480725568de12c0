package load

import (
	"bytes"
	"cmp"
	"context"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/generate/internal/inputs"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	gosource "github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/report"
)

// GeneratedTag is the build tag that hides generated files from generators.
const GeneratedTag = gosource.GeneratedTag

// Config says what to load and how.
type Config struct {
	// Context ends the go command, should it have to run. Nil never does.
	Context context.Context
	// Dir is the folder that patterns are relative to; "" is the current one.
	Dir string
	// Tags are the build tags besides those of the platform. Nil means
	// GeneratedTag alone.
	Tags []string
	// Generated lets packages be imported of which all files are hidden from generators by
	// [GeneratedTag], as a compiler lets them. controller-gen takes them for missing.
	Generated bool
	// Edition is the version of controller-gen that is followed; the zero value is the newest.
	Edition edition.Edition
	// Registry reports which markers there are. It must not be nil.
	Registry *marker.Registry
	// Notes receives a report.Note when the go command has to be run or a
	// package has to be type-checked; nil discards them.
	Notes report.Handler
	// Inputs notes what is read; nil does not.
	Inputs *inputs.Set
	// Settled are packages, by folder, that need not be read again.
	Settled map[string]*Facts
	// Untouched are packages, by folder, whose files are those in which the last run found no mistake.
	Untouched map[string]bool
	// Plain are the files of dependencies that need not be read again.
	Plain []PlainFolder
}

// Loader reads packages for one run of the generators. Each package and each
// file is read at most once.
type Loader struct {
	config  Config
	fset    *token.FileSet
	build   *constraints
	env     *environment
	checker *checker

	mu           sync.Mutex
	modules      map[string]*modules // by folder of go.mod or go.work
	packages     map[packageKey]*Package
	rootPackages []*Package
	lists        [][]*Package // see listsOf
	findings     []report.Finding
	plain        map[string]PlainFile  // by path, as the last run found them
	leftOut      map[string]bool       // files that build constraints leave out
	missing      []string              // modules that are required and not there, or packages that vendored is to have
	vendored     *modules              // those of the last one that is missing
	edges        map[*Package][]string // the folders of the user's packages that a package imports

	buffers sync.Pool // of *bytes.Buffer, for reading files

	parsed  atomic.Int64
	checked atomic.Int64
}

// ampleRoom is more than most Go files have, in bytes. Memory that is not used is never touched, and a buffer that
// grows leaves what it was.
const ampleRoom = 256 << 10

// Edition is the version of controller-gen that is followed.
func (l *Loader) Edition() *edition.Edition { return &l.config.Edition }

// New returns a loader. Nothing is read before it is asked for.
func New(config Config) *Loader {
	if config.Context == nil {
		config.Context = context.Background()
	}
	if config.Edition.Version == "" {
		config.Edition = edition.For(edition.Newest)
	}
	if config.Tags == nil {
		config.Tags = []string{GeneratedTag}
	}
	if config.Notes == nil {
		config.Notes = report.Discard
	}
	dir, err := filepath.Abs(config.Dir)
	if err != nil {
		dir = config.Dir
	}
	env := newEnvironment(config.Inputs, dir)
	l := &Loader{
		config:   config,
		fset:     token.NewFileSet(),
		env:      env,
		build:    newConstraints(env, config.Tags),
		modules:  make(map[string]*modules),
		packages: make(map[packageKey]*Package),
		plain:    plainFiles(config.Plain),
		leftOut:  make(map[string]bool),
		edges:    make(map[*Package][]string),
		buffers:  sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, ampleRoom)) }},
	}
	l.checker = &checker{loader: l, done: make(map[*Package]*checkedPackage)}
	return l
}

// Fset holds the positions of all loaded files.
func (l *Loader) Fset() *token.FileSet { return l.fset }

// Parsed is the number of files that were parsed so far.
func (l *Loader) Parsed() int { return int(l.parsed.Load()) }

// Checked is the number of packages that go/types had to check so far, because
// syntax alone did not show what one of their types is.
func (l *Loader) Checked() int { return int(l.checked.Load()) }

// Position is pos as findings give it.
func (l *Loader) Position(pos token.Pos) report.Position {
	p := l.fset.Position(pos)
	return report.Position{File: p.Filename, Line: p.Line, Column: p.Column}
}

// ShortPosition is pos for the text of a message, relative to the run's folder where it is below that.
func (l *Loader) ShortPosition(pos token.Pos) report.Position {
	at := l.Position(pos)
	if rel, err := filepath.Rel(l.env.dir, at.File); err == nil && filepath.IsLocal(rel) {
		at.File = rel
	}
	return at
}

// ReadFile reads a file that a run depends on and that is no Go file.
func (l *Loader) ReadFile(path string) ([]byte, error) { return l.config.Inputs.ReadFile(path) }

// LeftOut reports whether build constraints left a file out of its package, so
// that nothing but its constraints was used of it.
func (l *Loader) LeftOut(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leftOut[path]
}

// Report adds findings about the user's code.
func (l *Loader) Report(findings ...report.Finding) {
	if len(findings) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.findings = append(l.findings, findings...)
}

// Findings returns what was found so far, by position and without duplicates.
func (l *Loader) Findings() []report.Finding {
	l.mu.Lock()
	sorted := slices.Clone(l.findings)
	l.mu.Unlock()
	slices.SortStableFunc(sorted, compareFindings)
	sorted = slices.Compact(sorted)
	l.explainForeign(sorted)
	return sorted
}

func compareFindings(a, b report.Finding) int {
	return cmp.Or(
		strings.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		strings.Compare(a.Message, b.Message),
	)
}

// Note reports what took a longer way.
func (l *Loader) Note(text string) { l.config.Notes.Handle(report.Note{Text: text}) }

// Roots returns the packages that the patterns name, ordered by folder. A
// pattern is a folder or an import path, and may end in /... to include what is
// below it; nested modules below a folder are included. A pattern that names no
// package is an error.
func (l *Loader) Roots(ctx context.Context, patterns ...string) ([]*Package, error) {
	return l.roots(ctx, patterns)
}
