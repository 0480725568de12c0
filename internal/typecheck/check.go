package typecheck

import (
	"errors"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

var (
	errNoName    = errors.New("it names no module")
	errInvalid   = errors.New("it is not valid")
	errTooMuch   = errors.New("the files of the project are too large to check")
	errGenerated = errors.New("it will be generated")
	errNoPackage = errors.New("the module has no such package")
	errCycle     = errors.New("import cycle not allowed")
)

// A checker type-checks packages of one code. It caches what they declare.
type checker struct {
	*moduleSources
	exportData *exports
	declared   map[string]*declarations
	program    *Program // if not nil, functions are checked, too, and packages are kept here
}

// declarations is what the importers of a package see.
type declarations struct {
	types   *types.Package
	unknown string // why types may be incomplete; "" if they are complete
}

func newChecker(of *moduleSources, known *exports) *checker {
	return &checker{moduleSources: of, exportData: known, declared: map[string]*declarations{}}
}

// A result is the result for one package.
type result struct {
	path     string
	mistakes []Mistake
	unknown  string // why it was not checked
}

// checkWithTests checks a package with its tests.
func (c *checker) checkWithTests(importPath string) result {
	p := c.load(importPath)
	if p == nil {
		return result{path: importPath}
	}
	inside := c.checkFiles(p, p.path, p.filesThat(func(f *file) bool { return !f.outside() }))
	outside := p.filesThat((*file).outside)
	if len(outside) == 0 || len(inside.mistakes) > 0 || inside.unknown != "" {
		return inside.result
	}
	tests := c
	if slices.ContainsFunc(p.files, func(f *file) bool { return f.test && !f.outside() }) {
		tests = c.checkerForExternalTests(p.path, inside.types)
	}
	return tests.checkFiles(p, p.path+"_test", outside).result
}

// checkerForExternalTests returns a checker for external tests, which see the package with its internal tests. The
// package and all that imports it are checked anew for them.
func (c *checker) checkerForExternalTests(importPath string, with *types.Package) *checker {
	tests := newChecker(c.moduleSources, c.exportData)
	for other, d := range c.declared {
		if !c.reaches(other, importPath) {
			tests.declared[other] = d
		}
	}
	tests.declared[importPath] = &declarations{types: with}
	return tests
}

// A unit is a set of files that are compiled together: a package with its internal tests, or its external tests.
type unit struct {
	result
	*checker
	types  *types.Package
	inside bool             // the package itself, not its external tests
	shown  map[string]*file // by the file names in positions
	passed map[token.Pos]bool
}

func (c *checker) checkFiles(p *pkg, importPath string, files []*file) *unit {
	u := &unit{result: result{path: p.path}, checker: c, inside: importPath == p.path, shown: map[string]*file{}, passed: map[token.Pos]bool{}}
	if p.err != nil {
		u.unknown = p.err.Error()
		return u
	}
	uses := map[*ast.Ident]types.Object{}
	u.types = u.checkSyntax(p, importPath, files, false, &types.Info{Uses: uses})
	u.refuseTests(uses)
	if u.unknown != "" {
		u.mistakes = nil
	}
	return u
}

// checkSyntax type-checks files. It returns nil if their constants are too large to check.
func (u *unit) checkSyntax(p *pkg, importPath string, files []*file, declarations bool, info *types.Info) *types.Package {
	var syntax []*ast.File
	for _, f := range files {
		u.shown[f.name] = f
		u.addSyntaxErrors(f)
		if f.syntax != nil {
			syntax = append(syntax, f.syntax)
			u.passGenerated(f.syntax)
		}
	}
	if u.constantsTooLarge(files) {
		u.unknown = tooGrown
		return nil
	}
	config := types.Config{
		GoVersion: p.root.goVersion, Sizes: types.SizesFor("gc", u.settings.GOARCH), FakeImportC: true, IgnoreFuncBodies: declarations,
		Importer: u, Error: u.addError,
	}
	checked, _ := config.Check(importPath, u.files, syntax, info) // addError gets the errors
	return checked
}

// passGenerated makes the unit ignore errors about imports of packages that are yet to be generated.
func (u *unit) passGenerated(syntax *ast.File) {
	for i, importPath := range importsOf(syntax) {
		if u.willBeGenerated(importPath) && i < len(syntax.Imports) {
			u.passed[syntax.Imports[i].Path.Pos()] = true
		}
	}
}

// willBeGenerated reports whether a package of the module consists of apply configurations, which are generated.
func (c *checker) willBeGenerated(importPath string) bool {
	r, dir := c.rootOf(importPath)
	return r != nil && slices.Contains(strings.Split(dir, "/"), "applyconfiguration")
}

// addSyntaxErrors adds the parser's first mistake; later ones may follow from it.
func (u *unit) addSyntaxErrors(f *file) {
	if f.err == nil || f.generated {
		return
	}
	m := Mistake{Position: report.Position{File: f.name}, Message: f.err.Error()}
	if list, is := errors.AsType[scanner.ErrorList](f.err); is && len(list) > 0 {
		m = Mistake{report.Position{File: f.name, Line: list[0].Pos.Line, Column: list[0].Pos.Column}, list[0].Msg}
	}
	u.mistakes = append(u.mistakes, m)
}

// addError adds a mistake that go/types found. It is the Error function of [types.Config].
func (u *unit) addError(err error) {
	found, is := errors.AsType[types.Error](err)
	if !is || u.passed[found.Pos] || strings.HasPrefix(found.Msg, "\t") { // a continuation of the last error
		return
	}
	u.add(found.Pos, found.Msg)
}

func (u *unit) add(pos token.Pos, message string) {
	at := u.files.PositionFor(pos, false)
	if f := u.shown[at.Filename]; f != nil && !f.generated {
		u.mistakes = append(u.mistakes, Mistake{report.Position{File: at.Filename, Line: at.Line, Column: at.Column}, message})
	}
}

// refuseTests adds a mistake wherever other code uses what tests declare: the package is compiled without them.
func (u *unit) refuseTests(uses map[*ast.Ident]types.Object) {
	declaredIn := func(pos token.Pos) *file { return u.shown[u.files.PositionFor(pos, false).Filename] }
	for ident, object := range uses {
		if object.Pkg() != u.types || !object.Pos().IsValid() {
			continue
		}
		if from, at := declaredIn(ident.Pos()), declaredIn(object.Pos()); from != nil && at != nil && !from.test && at.test {
			u.add(ident.Pos(), "undefined: "+ident.Name)
		}
	}
	slices.SortStableFunc(u.mistakes, compareMistakes)
}

func compareMistakes(a, b Mistake) int {
	if c := strings.Compare(a.Position.File, b.Position.File); c != 0 {
		return c
	}
	if a.Position.Line != b.Position.Line {
		return a.Position.Line - b.Position.Line
	}
	return a.Position.Column - b.Position.Column
}

// Import implements [types.Importer] for the imports of a unit.
func (u *unit) Import(importPath string) (*types.Package, error) {
	if importPath == "unsafe" {
		return types.Unsafe, nil
	}
	if u.willBeGenerated(importPath) {
		return nil, errGenerated
	}
	var found *declarations
	if p := u.load(importPath); p != nil {
		if u.inside && u.reaches(importPath, u.path) {
			return nil, errCycle
		}
		found = u.declarations(p)
	} else if u.isMissing(importPath) {
		return nil, errNoPackage
	} else {
		found = u.imported(importPath)
	}
	if u.unknown == "" {
		u.unknown = found.unknown
	}
	if found.types == nil {
		return nil, errors.New(found.unknown)
	}
	return found.types, nil
}

// declarations checks what a package declares, once. It checks functions, too, if c.whole is set.
func (c *checker) declarations(p *pkg) *declarations {
	if d, known := c.declared[p.path]; known {
		return d
	}
	d := &declarations{}
	c.declared[p.path] = d
	u := &unit{result: result{path: p.path}, checker: c, inside: true, shown: map[string]*file{}, passed: map[token.Pos]bool{}}
	files := p.filesThat(func(f *file) bool { return !f.test })
	var info *types.Info
	if c.program != nil {
		info = programInfo()
	}
	made := u.checkSyntax(p, p.path, files, c.program == nil, info)
	if c.program != nil {
		c.program.keep(files, made, info)
	}
	switch d.unknown = u.unknown; {
	case d.unknown != "":
	case p.err != nil:
		d.unknown = p.err.Error()
	case len(u.mistakes) > 0:
		d.unknown = "a package that it imports does not compile: " + u.mistakes[0].text()
	}
	d.types = made
	return d
}

// imported returns the declarations of a package outside the code, from export data. They are unknown if that package
// imports one of the code, which may change.
func (c *checker) imported(importPath string) *declarations {
	made, err := c.exportData.Import(importPath)
	if err != nil {
		return &declarations{unknown: err.Error()}
	}
	for _, deeper := range made.Imports() {
		if c.load(deeper.Path()) != nil {
			return &declarations{unknown: fmt.Sprintf("%s imports %s, which may change", importPath, path.Clean(deeper.Path()))}
		}
	}
	return &declarations{types: made}
}
