package load

import (
	"go/token"
	"maps"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/internal/inputs"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

// Facts are what a run found out about a package of the user's that is worth
// knowing in the next one: enough to pass over a package in which, and in all of
// whose imports, nothing has changed. See [Settled].
type Facts struct {
	Dir, Path, Name string
	// Root is set for packages that the patterns named.
	Root bool
	// Faulty is set when there are findings, which have to be found again.
	Faulty bool
	// Imports are the folders of the user's packages that it imports.
	Imports []string
	// Markers are those of the package itself.
	Markers []PlacedMarker
}

// PlacedMarker is a marker with its place.
type PlacedMarker struct {
	Text string
	Doc  bool
	report.Position
}

// Settled returns the packages, by folder, of which the facts still hold after changes:
// nothing has changed in them and in what they import. Untouched are those with no change of their own, and with no
// finding: what concerns their files alone needs no second look. There are none when a change
// may be about any of them, such as one of a go.mod file.
func Settled(facts []Facts, changes []inputs.Change) (settled map[string]*Facts, untouched map[string]bool) {
	s := settling{facts: make(map[string]*Facts, len(facts)), done: make(map[string]bool, len(facts))}
	for i := range facts {
		s.facts[facts[i].Dir] = &facts[i]
	}
	for _, c := range changes {
		dir, known := s.touched(c)
		if !known {
			return nil, nil
		}
		s.done[dir] = false
	}
	untouched = make(map[string]bool, len(facts))
	for dir, f := range s.facts {
		_, touched := s.done[dir]
		untouched[dir] = !touched && !f.Faulty
	}
	settled = make(map[string]*Facts, len(facts))
	for dir, f := range s.facts {
		if s.holds(dir) {
			settled[dir] = f
		}
	}
	return settled, untouched
}

// settling finds the settled packages. The folders that are done have an answer.
type settling struct {
	facts map[string]*Facts
	done  map[string]bool
}

// touched is the folder of the package that a change is about, or "" when it is about
// none. It is not known what else may come of other changes.
func (s *settling) touched(c inputs.Change) (dir string, known bool) {
	if c.Listing {
		if s.facts[c.Path] != nil {
			return c.Path, true
		}
		// Who imports a package looked for Go files in its folder.
		names, err := goFileNames(nil, c.Path)
		return "", err == nil && len(names) == 0
	}
	dir = filepath.Dir(c.Path)
	return dir, c.Content && isGoFile(filepath.Base(c.Path)) && s.facts[dir] != nil
}

// holds tells whether the facts about the package in dir do. Imports make no circles
// where there were no findings.
func (s *settling) holds(dir string) bool {
	if holds, done := s.done[dir]; done {
		return holds
	}
	f := s.facts[dir]
	holds := f != nil && !f.Faulty && !slices.ContainsFunc(f.Imports, func(dir string) bool { return !s.holds(dir) })
	s.done[dir] = holds
	return holds
}

// Settled reports whether nothing has changed in p, and in all that it may refer to,
// since the last run, which found no fault with it.
func (p *Package) Settled() bool { return p.facts != nil && p.facts.Root }

// Facts are those about the packages that [Loader.CheckImports] has seen. There are none
// when there are findings elsewhere: it is not known what they come from.
func (l *Loader) Facts() []Facts {
	faulty := make(map[string]bool)
	for _, f := range l.Findings() {
		if f.File != "" {
			faulty[filepath.Dir(f.File)] = true
		}
	}
	byDir := maps.Clone(l.config.Settled)
	if byDir == nil {
		byDir = make(map[string]*Facts)
	}
	seen := make(map[string]bool)
	for p, imports := range l.edges {
		if seen[p.Dir] {
			faulty[p.Dir] = true // the same folder in two modules
		}
		seen[p.Dir] = true
		byDir[p.Dir] = p.newFacts(imports)
	}
	var all []Facts
	for dir, f := range byDir {
		facts := *f
		facts.Faulty = faulty[dir]
		all = append(all, facts)
		delete(faulty, dir)
	}
	if len(faulty) > 0 {
		return nil
	}
	return all
}

func (p *Package) newFacts(imports []string) *Facts {
	if p.facts != nil {
		return p.facts
	}
	f := &Facts{Dir: p.Dir, Path: p.Path, Name: p.Name(), Root: p.Root, Imports: imports}
	if !p.Root {
		return f
	}
	for _, file := range p.Files() {
		for _, c := range file.attached().Package {
			f.Markers = append(f.Markers, PlacedMarker{Text: c.Text, Doc: c.Doc, Position: file.Position(c.Pos)})
		}
	}
	return f
}

// comments are the markers of the package as they would be if its files were parsed.
func (f *Facts) comments(fset *token.FileSet) []marker.Comment {
	comments := make([]marker.Comment, len(f.Markers))
	for i, m := range f.Markers {
		file := fset.AddFile(m.File, -1, len(m.Text))
		file.AddLineColumnInfo(0, m.File, m.Line, m.Column)
		comments[i] = marker.Comment{Text: m.Text, Doc: m.Doc, Pos: file.Pos(0)}
	}
	return comments
}
