// Package vet finds code that does nothing, or fails in a cluster, although it compiles: it contradicts the project's
// own markers, or has a form of which the libraries know nothing any more.
//
//	findings, err := vet.Findings(code, program)
//
// It reads syntax and, for permissions that calls need, the types of a program. What these leave open, such as the type
// of an object in an interface's variable, is unknown and no finding.
package vet

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/report"
)

// Findings are what is wrong with the project's code, by file and line: see [codebase.Codebase.Kinds] for the error.
func Findings(code *codebase.Codebase, program Program) ([]report.Finding, error) {
	v := vetting{code: code, set: token.NewFileSet()}
	var err error
	if v.kinds, err = code.Kinds(); err != nil {
		return nil, err
	}
	if err := v.read(); err != nil {
		return nil, err
	}
	v.registrations()
	v.formerWebhooks()
	v.statuses()
	v.permissions()
	if err := v.webhooks(); err != nil {
		return nil, err
	}
	if err := v.lacking(program); err != nil {
		return nil, err
	}
	slices.SortStableFunc(v.found, func(a, b report.Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return v.found, nil
}

// vetting is one look at a project.
type vetting struct {
	code  *codebase.Codebase
	set   *token.FileSet
	kinds []codebase.Kind
	files []file
	found []report.Finding
}

// A file is one that may have something to find.
type file struct {
	name, dir string
	text      []byte
	syntax    *ast.File
	imports   map[string]string // import paths by the names that the file calls them
}

// words are those without one of which a file has nothing to find.
var words = []string{
	"+" + source.PermissionMarker, "SchemeBuilder", "Status()", "Default()", "ValidateCreate(", "ValidateUpdate(", "ValidateDelete(",
	"NewWebhookManagedBy", "webhook", "Webhook", `"/mutate`, `"/validate`,
}

// read parses the files that matter and belong to the build. A mistake is left to the compiler.
func (v *vetting) read() error {
	names, err := v.code.GoFiles()
	for _, name := range names {
		text, err := v.code.View().ReadFile(name)
		matters := func(word string) bool { return bytes.Contains(text, []byte(word)) }
		if err != nil || !slices.ContainsFunc(words, matters) || !source.Matches(&build.Default, path.Base(name), text) {
			continue
		}
		syntax, err := parser.ParseFile(v.set, name, text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		v.files = append(v.files, file{name, path.Dir(name), text, syntax, codebase.ImportsOf(syntax)})
	}
	return err
}

func (v *vetting) report(rule report.Rule, at token.Pos, message, suggestion string) {
	p := v.set.Position(at)
	v.found = append(v.found, report.Finding{Rule: rule, Position: report.Position{File: p.Filename, Line: p.Line, Column: p.Column}, Message: message, Suggestion: suggestion})
}

// A typeName is the name of a type, and the import path of its package; "" for the file's own.
type typeName struct{ pkg, name string }

// typeOf is the type that an expression names, as *batchv1.CronJob does; ok is false for other expressions.
func (f file) typeOf(x ast.Expr) (t typeName, ok bool) {
	if star, is := x.(*ast.StarExpr); is {
		x = star.X
	}
	switch x := x.(type) {
	case *ast.Ident:
		return typeName{"", x.Name}, true
	case *ast.SelectorExpr:
		if name, is := x.X.(*ast.Ident); is && f.imports[name.Name] != "" {
			return typeName{f.imports[name.Name], x.Sel.Name}, true
		}
	}
	return typeName{}, false
}

// made is the type of a value that an expression makes: &T{}, T{} or new(T).
func (f file) made(x ast.Expr) (t typeName, ok bool) {
	switch x := x.(type) {
	case *ast.UnaryExpr:
		return f.made(x.X)
	case *ast.CompositeLit:
		return f.typeOf(x.Type)
	case *ast.CallExpr:
		if called, is := x.Fun.(*ast.Ident); is && called.Name == "new" && len(x.Args) == 1 {
			return f.typeOf(x.Args[0])
		}
	}
	return typeName{}, false
}

// kindOf is the project's kind of a type, or nil.
func (v *vetting) kindOf(f file, t typeName) *codebase.Kind {
	dir := f.dir
	if t.pkg != "" {
		own, _ := v.code.Modules()
		below, is := strings.CutPrefix(t.pkg+"/", own+"/")
		if !is {
			return nil
		}
		dir = path.Clean(below)
	}
	return v.code.KindIn(dir, t.name)
}

// methodOf is the name of the type that a method is of, "" for a function.
func methodOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) != 1 {
		return ""
	}
	x := f.Recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	if name, ok := x.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// anyCalls reports whether a file calls something of a name.
func (v *vetting) anyCalls(name string) (found bool) {
	for _, f := range v.files {
		f.calls(func(called string, _ *ast.CallExpr) { found = found || called == name })
	}
	return found
}

// calls are the calls of a file, each with the name of what it calls.
func (f file) calls(yield func(name string, call *ast.CallExpr)) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			switch called := call.Fun.(type) {
			case *ast.SelectorExpr:
				yield(called.Sel.Name, call)
			case *ast.Ident:
				yield(called.Name, call)
			}
		}
		return true
	})
}
