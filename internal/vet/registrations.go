package vet

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// runtimePackage has the SchemeBuilder that takes functions.
const runtimePackage = "k8s.io/apimachinery/pkg/runtime"

// registrations finds objects that are given to a SchemeBuilder of functions, as tutorials for controller-runtime's
// have it: that does not compile, and the compiler does not say what to write.
func (v *vetting) registrations() {
	takesFunctions := map[string]bool{} // by folder
	for _, f := range v.files {
		if f.declaresSchemeBuilder() {
			takesFunctions[f.dir] = true
		}
	}
	for _, f := range v.files {
		if !takesFunctions[f.dir] {
			continue
		}
		f.calls(func(name string, call *ast.CallExpr) {
			if name != "Register" || types.ExprString(call.Fun) != "SchemeBuilder.Register" || len(call.Args) == 0 {
				return
			}
			var objects []string
			for _, argument := range call.Args {
				if _, isMade := f.made(argument); !isMade {
					return
				}
				objects = append(objects, strings.ReplaceAll(types.ExprString(argument), "{…}", "{}"))
			}
			version := cmp.Or(v.code.Package(f.dir).Registration.GroupVersion, "GroupVersion")
			v.report(report.RuleFormerRegistration, call.Pos(), "SchemeBuilder takes functions, not objects: this does not compile",
				"write SchemeBuilder.Register(func(s *runtime.Scheme) error { s.AddKnownTypes("+version+", "+strings.Join(objects, ", ")+"); return nil })")
		})
	}
}

// declaresSchemeBuilder reports whether a file has a variable SchemeBuilder that takes functions.
func (f file) declaresSchemeBuilder() bool {
	for _, decl := range f.syntax.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, spec := range d.Specs {
			s := spec.(*ast.ValueSpec)
			for i, name := range s.Names {
				if name.Name == "SchemeBuilder" && (s.Type != nil && f.isRuntime(s.Type) || i < len(s.Values) && f.isRuntime(s.Values[i])) {
					return true
				}
			}
		}
	}
	return false
}

// isRuntime reports whether an expression names, calls or makes something of the package runtime.
func (f file) isRuntime(x ast.Expr) bool {
	switch e := x.(type) {
	case *ast.CallExpr:
		x = e.Fun
	case *ast.CompositeLit:
		x = e.Type
	}
	t, ok := f.typeOf(x)
	return ok && t.pkg == runtimePackage
}
