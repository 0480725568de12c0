package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// webhooks finds markers with a path at which no code serves a webhook. Nothing is found as long as it is not known of
// some code what it serves.
func (v *vetting) webhooks() error {
	declared, err := v.code.Webhooks()
	if err != nil || len(declared) == 0 {
		return err
	}
	served := v.served()
	if served.unknown {
		return nil
	}
	for _, w := range declared {
		if w.Path == "" || w.Elsewhere || served.has(w) {
			continue
		}
		suggestion := "write the path that the manager serves, or serve it: ctrl.NewWebhookManagedBy(mgr, &KIND{})"
		at := report.Position{File: w.File, Line: w.Line}
		var fix report.Fix
		if other := served.like(w); other != "" {
			fix = v.argumentFix(at, "path", w.Path, other)
			suggestion = "write path=" + other + ", which the manager serves"
		}
		v.found = append(v.found, report.Finding{Rule: report.RuleUnservedWebhook, Position: at, Fix: fix,
			Message: "no code of the project serves the path " + w.Path + ": the API server's calls of this webhook fail", Suggestion: suggestion})
	}
	return nil
}

// served is what the project's code serves.
type served struct {
	paths   []string // of builders of webhooks
	texts   map[string]bool
	foreign []string // names of kinds of other modules, whose groups are not known
	unknown bool     // of some code it is not known what it serves
}

// served reads what builders of webhooks and other code serve.
func (v *vetting) served() served {
	s := served{texts: map[string]bool{}}
	builders := 0
	for _, f := range v.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(text, "/") {
					s.texts[text] = true
				}
			}
			return true
		})
		f.calls(func(name string, call *ast.CallExpr) {
			switch {
			case name == "NewWebhookManagedBy":
				builders++
				v.build(f, call, &s)
			case leavesPathOpen(name, call) && !passesOn(f.functionAround(call), call):
				s.unknown = true
			}
		})
	}
	s.unknown = s.unknown || builders == 0 // a package of another module may serve all
	return s
}

// serving are methods that serve a path, which is their first argument.
var serving = []string{"Register", "Handle", "HandleFunc", "WithCustomPath", "WithDefaulterCustomPath", "WithValidatorCustomPath"}

// leavesPathOpen reports whether a call may serve a path that syntax does not show.
func leavesPathOpen(name string, call *ast.CallExpr) bool {
	if !slices.Contains(serving, name) || len(call.Args) == 0 || len(call.Args) == 1 && !strings.HasSuffix(name, "CustomPath") {
		return false // such as that of a scheme's builder
	}
	if types.ExprString(call.Fun) == "SchemeBuilder.Register" {
		return false
	}
	_, literal := call.Args[0].(*ast.BasicLit)
	return !literal
}

// passesOn reports whether a call gives on the path that its own function, a method that serves it, was given: the
// calls of that one show the paths.
func passesOn(in *ast.FuncDecl, call *ast.CallExpr) bool {
	name, is := variable(call.Args[0])
	if !is || in == nil || in.Recv == nil || !slices.Contains(serving, in.Name.Name) {
		return false
	}
	params := in.Type.Params.List
	return len(params) > 0 && len(params[0].Names) > 0 && params[0].Names[0].Name == name
}

// build adds what a builder serves: webhooks for the type that is given to it, or to methods For in its function.
func (v *vetting) build(f file, begin *ast.CallExpr, s *served) {
	in := f.functionAround(begin)
	if in == nil {
		s.unknown = true
		return
	}
	objects := begin.Args[min(1, len(begin.Args)):]
	if len(objects) == 0 {
		ast.Inspect(in, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if method, is := call.Fun.(*ast.SelectorExpr); is && method.Sel.Name == "For" && len(call.Args) > 0 {
				objects = append(objects, call.Args[0])
			}
			return true
		})
	}
	s.unknown = s.unknown || len(objects) == 0
	for _, object := range objects {
		v.buildFor(f, in, object, s)
	}
}

// buildFor adds the paths of the webhooks for an object.
func (v *vetting) buildFor(f file, in *ast.FuncDecl, object ast.Expr, s *served) {
	t, isMade := f.made(object)
	if name, is := variable(object); is && !isMade {
		t = f.variables(in)[name]
	}
	own, _ := v.code.Modules()
	k := v.kindOf(f, t)
	switch {
	case k != nil:
		r := project.Resource{Group: k.Package.Group, Version: k.Package.Version, Kind: k.Name}
		s.paths = append(s.paths, codebase.WebhookPath(r, true), codebase.WebhookPath(r, false))
	case isMade && t.pkg != "" && !strings.HasPrefix(t.pkg+"/", own+"/"):
		s.foreign = append(s.foreign, t.name)
	default:
		s.unknown = true // an interface, a type parameter, or a type with embedded metadata
	}
}

// functionAround is the declaration of the function that a node is in, or nil.
func (f file) functionAround(n ast.Node) *ast.FuncDecl {
	for _, decl := range f.syntax.Decls {
		if function, ok := decl.(*ast.FuncDecl); ok && function.Pos() <= n.Pos() && n.End() <= function.End() {
			return function
		}
	}
	return nil
}

// has reports whether a webhook is served: by a builder, or by code that has its path as a text.
func (s served) has(w codebase.Webhook) bool {
	if s.texts[w.Path] || s.texts[strings.TrimPrefix(w.Path, "/")] {
		return true
	}
	return slices.Contains(s.paths, w.Path) ||
		slices.ContainsFunc(s.foreign, func(kind string) bool { return strings.HasSuffix(w.Path, "-"+strings.ToLower(kind)) })
}

// like is the path of a builder that the webhook's marker is likely to mean, or "".
func (s served) like(w codebase.Webhook) string {
	verb := "/validate-"
	if w.Mutating {
		verb = "/mutate-"
	}
	of := slices.DeleteFunc(slices.Clone(s.paths), func(path string) bool { return !strings.HasPrefix(path, verb) })
	if len(of) == 1 {
		return of[0]
	}
	return nearest(w.Path, of)
}
