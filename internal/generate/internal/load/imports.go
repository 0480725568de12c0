package load

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
)

// importSpec is an import as a file states it.
type importSpec struct {
	path string
	at   report.Position
}

func importSpecs(fset *token.FileSet, specs []*ast.ImportSpec) []importSpec {
	imports := make([]importSpec, 0, len(specs))
	for _, spec := range specs {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil || target == "C" || target == "unsafe" {
			continue
		}
		p := fset.Position(spec.Path.Pos())
		imports = append(imports, importSpec{target, report.Position{File: p.Filename, Line: p.Line, Column: p.Column}})
	}
	return imports
}

// imports are those of all files of p, by file and line.
func (p *Package) imports() []importSpec {
	var all []importSpec
	for _, f := range p.Files() {
		all = append(all, importSpecs(p.loader.fset, f.Syntax.Imports)...)
	}
	for _, s := range p.sources {
		if s.interesting {
			continue
		}
		if !s.parsed {
			p.loader.parseImports(s)
		}
		all = append(all, s.imports...)
	}
	slices.SortStableFunc(all, func(a, b importSpec) int { return strings.Compare(a.at.File, b.at.File) })
	return all
}

// parseImports parses as much of a file as the go command does to know its imports.
func (l *Loader) parseImports(s *source) { l.parseAside(s, parser.ImportsOnly) }

// CheckImports reports the imports for which the go command would not build the roots: those that come back to where
// they began, and those of what is not there, is a program, or is internal to others. Besides the roots it looks at the
// packages of their modules that they need. Packages at and below the import paths in made need not be there: the run
// makes them.
func (l *Loader) CheckImports(roots []*Package, made ...string) {
	g := &importGraph{loader: l, made: made, state: make(map[*Package]progress), told: make(map[*Package]bool), doubted: make(map[*modules][]importSpec)}
	for _, p := range roots {
		p.checkName()
		if g.state[p] == unseen {
			g.visit(p)
		}
	}
	for m, specs := range g.doubted {
		m.reportDoubted(specs)
	}
}

// importGraph is a walk through the imports, depth first.
type importGraph struct {
	loader  *Loader
	made    []string
	state   map[*Package]progress
	path    []*Package // from a root to where the walk is
	told    map[*Package]bool
	doubted map[*modules][]importSpec // what only the go command can tell for sure
}

type progress byte

const (
	unseen progress = iota
	open            // on the path
	done
)

func (g *importGraph) visit(p *Package) {
	if p.facts != nil {
		g.state[p] = done
		g.loader.edges[p] = p.facts.Imports
		return
	}
	g.state[p] = open
	g.path = append(g.path, p)
	g.loader.edges[p] = nil
	for _, spec := range p.imports() {
		target := g.target(p, spec)
		if target == nil || !target.Local() {
			continue
		}
		if !slices.Contains(g.loader.edges[p], target.Dir) {
			g.loader.edges[p] = append(g.loader.edges[p], target.Dir)
		}
		switch g.state[target] {
		case unseen:
			g.visit(target)
		case open:
			g.tellCycle(target, spec)
		}
	}
	g.path = g.path[:len(g.path)-1]
	g.state[p] = done
}

// tellCycle reports that spec leads back to a package on the path, once for each.
func (g *importGraph) tellCycle(target *Package, spec importSpec) {
	if g.told[target] {
		return
	}
	g.told[target] = true
	var names []string
	for _, p := range g.path[slices.Index(g.path, target):] {
		names = append(names, p.Path)
	}
	const most = 10 // a longer circle is not read to its end
	if len(names) > most {
		names = append(names[:most-1], "…", names[len(names)-1])
	}
	g.report(spec, "import cycle: "+strings.Join(append(names, target.Path), " → "))
}

func (g *importGraph) report(spec importSpec, message string) {
	g.loader.Report(report.Finding{Rule: report.RuleUnresolvedImport, Position: spec.at, Message: message, Fatal: true})
}

// target is the package that an import means; it is nil when there is none, and
// when its module is not on this machine, which matters only to who needs its types.
func (g *importGraph) target(from *Package, spec importSpec) *Package {
	if build.IsLocalImport(spec.path) {
		g.report(spec, fmt.Sprintf("import of %q: a module cannot have relative imports", spec.path))
		return nil
	}
	p, missing := from.modules.lookup(spec.path)
	switch {
	case missing:
		return nil
	case p != nil && p.Name() == "" && g.loader.config.Generated && p.isGenerated():
		return nil
	case (p == nil || p.Name() == "") && g.makes(spec.path):
		return nil
	case p == nil || p.Name() == "":
		g.doubted[from.modules] = append(g.doubted[from.modules], spec)
		return nil
	case p.Name() == "main" && p != from:
		g.report(spec, fmt.Sprintf("import of %s: it is a program, not an importable package", spec.path))
	case !p.isOpenTo(from):
		g.report(spec, fmt.Sprintf("import of %s: it is internal to other packages", spec.path))
	}
	return p
}

func (g *importGraph) makes(importPath string) bool {
	return slices.ContainsFunc(g.made, func(made string) bool { return importPath == made || strings.HasPrefix(importPath, made+"/") })
}

// lookup returns the package with an import path without asking anybody. It is
// missing when its module is required but not on this machine.
func (m *modules) lookup(importPath string) (p *Package, missing bool) {
	m.mu.Lock()
	dir, known := m.found[importPath]
	if !known {
		if dir = m.search(importPath); dir != "" {
			m.found[importPath] = dir
		}
	}
	m.mu.Unlock()
	if dir == "" {
		return nil, m.missingModule(importPath) != ""
	}
	return m.loader.packageAt(m, importPath, dir), false
}

// isOpenTo reports whether from may import p, as far as folders called internal say.
func (p *Package) isOpenTo(from *Package) bool {
	if p.isStandard() && from.isStandard() {
		return true
	}
	padded := "/" + p.Path + "/"
	i := strings.LastIndex(padded, "/internal/")
	switch {
	case i < 0:
		return true
	case i == 0:
		return !p.isStandard()
	}
	return strings.HasPrefix("/"+from.Path+"/", padded[:i+1])
}

func (p *Package) isStandard() bool {
	return isBelow(p.Dir, filepath.Join(p.loader.env.goroot(), "src"))
}

// checkName reports a folder that no import path can name, names that the go command
// garbles, and files of p that belong to another package than its first one.
func (p *Package) checkName() {
	if p.facts != nil {
		return
	}
	p.readSources()
	if err := module.CheckImportPath(p.Path); err != nil && len(p.sources) > 0 {
		p.loader.Report(report.Finding{Rule: report.RulePackageClause, Position: report.Position{File: p.sources[0].path, Line: 1, Column: 1}, Message: err.Error(), Fatal: true})
	}
	first := ""
	for _, s := range p.sources {
		if name := filepath.Base(s.path); !utf8.ValidString(name) {
			p.loader.Report(report.Finding{Rule: report.RulePackageClause, Position: report.Position{File: s.path, Line: 1}, Message: fmt.Sprintf("the go command cannot read a file whose name %q is not UTF-8", name), Fatal: true})
		}
		switch {
		case first == "" || s.name == "":
			first = s.name
		case s.name != first:
			fset := token.NewFileSet()
			at := report.Position{File: s.path, Line: 1}
			if syntax, _ := parser.ParseFile(fset, s.path, nil, parser.PackageClauseOnly); syntax != nil {
				clause := fset.Position(syntax.Name.Pos())
				at.Line, at.Column = clause.Line, clause.Column
			}
			message := fmt.Sprintf("package %s: other files of this folder are of package %s", s.name, first)
			p.loader.Report(report.Finding{Rule: report.RulePackageClause, Position: at, Message: message, Fatal: true})
		}
	}
}

// reportDoubted reports the imports that the go command cannot find either. It is
// asked because it may know a way that the files do not tell, and knows best what to
// do about it.
func (m *modules) reportDoubted(specs []importSpec) {
	var paths []string
	for _, s := range specs {
		paths = append(paths, s.path)
	}
	slices.Sort(paths)
	answers := m.askGoAbout(slices.Compact(paths))
	for _, s := range specs {
		problem, answered := answers[s.path]
		if !answered {
			problem = m.absent(s.path)
		}
		if problem != "" {
			m.loader.Report(report.Finding{Rule: report.RuleUnresolvedImport, Position: s.at, Message: problem, Fatal: true})
		}
	}
}

// absent is what is wrong with a package that is not there.
func (m *modules) absent(path string) string {
	switch {
	case m.vendor == "":
		return fmt.Sprintf("package %s is not in a required module, or has no file for this platform", path)
	case m.work != "":
		return fmt.Sprintf("package %s is not in vendor/; to add it: go work vendor", path)
	}
	return fmt.Sprintf("package %s is not in vendor/; to add it: go mod vendor", path)
}

// quotesOthers reports whether messages of the go command could quote files that are not the project's.
func (l *Loader) quotesOthers() bool {
	view := l.config.Inputs.View()
	if view == nil {
		return false
	}
	linked, err := codebase.Read(view, os.Getenv).Outside()
	return linked != "" || err != nil
}

// askGoAbout returns what the go command says is wrong with the packages, which is ""
// for those that it finds.
func (m *modules) askGoAbout(paths []string) map[string]string {
	l := m.loader
	l.config.Inputs.Opaque()
	if l.quotesOthers() {
		return nil
	}
	tags := "-tags=" + strings.Join(l.build.context.BuildTags, ",")
	const format = `{{printf "%q" .ImportPath}} {{with .Error}}{{printf "%q" .Err}}{{else}}""{{end}}`
	args := append([]string{"list", "-e", "-find", tags, "-f", format, "--"}, paths...)
	out, err := m.goOutput(args...)
	if err != nil {
		l.Note("go list failed: " + err.Error())
	}
	answers := make(map[string]string)
	for line := range bytes.Lines(out) {
		var path, problem string
		if _, err := fmt.Sscanf(string(line), "%q %q", &path, &problem); err == nil {
			answers[path] = strings.Join(strings.Fields(problem), " ")
		}
	}
	return answers
}
