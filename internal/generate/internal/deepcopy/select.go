package deepcopy

import (
	"go/ast"
	"iter"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

const (
	generateMarker   = "kubebuilder:object:generate"
	rootMarker       = "kubebuilder:object:root"
	legacyMarker     = "k8s:deepcopy-gen"
	legacyRootMarker = "k8s:deepcopy-gen:interfaces"

	runtimePackage = "k8s.io/apimachinery/pkg/runtime"
	runtimeObject  = runtimePackage + ".Object"
)

// definitions are the markers that the generator understands.
func definitions() []marker.Definition {
	return marker.In("object",
		marker.Define[bool](generateMarker, marker.Package, "generates DeepCopy methods for all exported types of the package"),
		marker.Define[bool](generateMarker, marker.Type, "sets whether this type gets DeepCopy methods, and overrides the package"),
		marker.Define[bool](rootMarker, marker.Type, "makes the type an API object, which also gets DeepCopyObject"),
		marker.Define[marker.Raw](legacyMarker, marker.Package, "is the older spelling of "+generateMarker+": its value is package").InsteadOf(generateMarker),
		marker.Define[marker.Raw](legacyMarker, marker.Type, "is the older spelling of "+generateMarker).InsteadOf(generateMarker),
		marker.Define[string](legacyRootMarker, marker.Type, "is the older spelling of "+rootMarker+": its value is "+runtimeObject).InsteadOf(rootMarker),
	)
}

// selected returns the declarations that get methods, in source order, and finds
// those that might and mean nothing.
func selected(p *load.Package) (chosen []*load.TypeDecl, findings []report.Finding) {
	all := wantsAll(p.Markers())
	for _, d := range p.Decls() {
		switch {
		case !wants(d.Markers(), all) || !ast.IsExported(d.Name()): // wrong markers are told of all
		case endless(d):
			findings = append(findings, report.Finding{
				Rule:       report.RuleDeepCopy,
				Position:   d.File.Position(d.Spec.Pos()),
				Message:    "DeepCopy of " + d.Name() + ": an alias of itself is not a type",
				Suggestion: "declare a type, without the equals sign",
				Fatal:      true,
			})
		case d.IsAlias() && !copiesAlias(d):
			findings = append(findings, report.Finding{
				Rule:       report.RuleDeepCopy,
				Position:   d.File.Position(d.Spec.Pos()),
				Message:    "DeepCopy of " + d.Name() + ": controller-gen " + p.Loader().Edition().Version + " fails at an alias",
				Suggestion: "mark it with +" + generateMarker + "=false, or pin a later version",
				Fatal:      true,
			})
		case needsMethods(d):
			chosen = append(chosen, d)
		}
	}
	return chosen, findings
}

// copiesAlias reports whether the program comes past an alias for which methods are asked.
func copiesAlias(d *load.TypeDecl) bool {
	e := d.Package.Loader().Edition()
	if e.Types.Aliases {
		return e.Copies.Aliases
	}
	return d.Type().Unalias().Kind == load.Named
}

// endless reports whether an alias leads back to itself, or through more than maxDepth others, by nothing but aliases.
func endless(alias *load.TypeDecl) bool {
	seen := make(map[*load.TypeDecl]bool)
	var leadsBack func(d *load.TypeDecl) bool
	leadsBack = func(d *load.TypeDecl) bool {
		if d == nil || !d.IsAlias() || seen[d] {
			return d == alias && seen[d]
		}
		if len(seen) > maxDepth {
			return true
		}
		seen[d] = true
		for name := range typeNames(d.Spec.Type) {
			if leadsBack(alias.Package.Decl(name)) {
				return true
			}
		}
		return false
	}
	return leadsBack(alias)
}

// typeNames yields the names of the package's own types in a type expression.
func typeNames(expr ast.Expr) iter.Seq[string] {
	return func(yield func(string) bool) {
		more := true
		var visit func(ast.Node) bool
		visit = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field: // its names are no types
				ast.Inspect(n.Type, visit)
				return false
			case *ast.SelectorExpr: // another package's
				return false
			case *ast.Ident:
				more = more && yield(n.Name)
			}
			return more
		}
		ast.Inspect(expr, visit)
	}
}

func wantsAll(markers marker.Values) bool {
	if yes, found := marker.Get[bool](markers, generateMarker); found {
		return yes
	}
	legacy, _ := marker.Get[marker.Raw](markers, legacyMarker)
	what, _, _ := strings.Cut(string(legacy), ",")
	return what == "package"
}

func wants(markers marker.Values, all bool) bool {
	if yes, found := marker.Get[bool](markers, generateMarker); found {
		return yes
	}
	if legacy, found := marker.Get[marker.Raw](markers, legacyMarker); found {
		return legacy == "true"
	}
	return all || isObject(markers)
}

func isObject(markers marker.Values) bool {
	if yes, found := marker.Get[bool](markers, rootMarker); found {
		return yes
	}
	for _, implemented := range marker.All[string](markers, legacyRootMarker) {
		if implemented == runtimeObject {
			return true
		}
	}
	return false
}

// needsMethods reports whether an exported type can have methods and gains by them: a
// basic type is copied by assignment, a type with one of the methods written by
// hand gets the others, and a name for a pointer has none. An alias has none either, where types know aliases.
func needsMethods(d *load.TypeDecl) bool {
	if d.IsAlias() && d.Package.Loader().Edition().Types.Aliases {
		return false
	}
	t := d.Type().Unalias()
	switch t.Underlying().Kind {
	case load.Pointer:
		return d.Package.Loader().Edition().Copies.PointerTypes && methodsOf(t.Underlying()).any()
	case load.Basic, load.Invalid:
		return methodsOf(t).any()
	}
	return true
}
