package deepcopy

import (
	"go/ast"
	"strings"

	"github.com/slipway-dev/slipway/generate/internal/load"
	"github.com/slipway-dev/slipway/generate/internal/marker"
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
		marker.Define[bool](generateMarker, marker.Type, "says whether this type gets DeepCopy methods, whatever its package says"),
		marker.Define[bool](rootMarker, marker.Type, "makes the type an API object: it gets DeepCopyObject too"),
		marker.Define[marker.Raw](legacyMarker, marker.Package, "is the older spelling of "+generateMarker+": its value is package").InsteadOf(generateMarker),
		marker.Define[marker.Raw](legacyMarker, marker.Type, "is the older spelling of "+generateMarker).InsteadOf(generateMarker),
		marker.Define[string](legacyRootMarker, marker.Type, "is the older spelling of "+rootMarker+": its value is "+runtimeObject).InsteadOf(rootMarker),
	)
}

// selected returns the declarations that get methods, in source order.
func selected(p *load.Package) []*load.TypeDecl {
	all := wantsAll(p.Markers())
	var chosen []*load.TypeDecl
	for _, d := range p.Decls() {
		if wants(d.Markers(), all) && needsMethods(d) {
			chosen = append(chosen, d)
		}
	}
	return chosen
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

// needsMethods reports whether a type can have methods and gains by them: a
// basic type is copied by assignment, a type with one of the methods written by
// hand gets the others, and a name for a pointer or an alias has none.
func needsMethods(d *load.TypeDecl) bool {
	if !ast.IsExported(d.Name()) || d.IsAlias() {
		return false
	}
	t := d.Type()
	switch t.Underlying().Kind {
	case load.Pointer:
		return methodsOf(t.Underlying()).any()
	case load.Basic, load.Invalid:
		return methodsOf(t).any()
	}
	return true
}
