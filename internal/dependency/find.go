package dependency

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/project"
)

// Project is where to look for uses.
type Project struct {
	Code     *codebase.Codebase
	Root     string             // its folder, in or below which a go.mod is
	External []project.Resource // those of PROJECT that are of other modules
	Environ  []string           // of the go command
}

// Definition is the definition of a kind of another module.
type Definition struct {
	Object *unstructured.Unstructured // a CustomResourceDefinition of apiextensions.k8s.io/v1
	Origin string                     // module, version and file, or the package that it was generated from
}

// Found is what a project needs of other modules.
type Found struct {
	Definitions []Definition // by name
	Missing     []Missing
}

// Missing is a kind without a definition.
type Missing struct {
	Kind string // as import path and name
	Why  string
}

// Find returns the definitions of the kinds of other modules that a project uses. It runs the go command only if the
// project imports a package that may have kinds. Errors are those of reading the project and of the go command.
func Find(ctx context.Context, p Project) (Found, error) {
	uses, err := usesOf(p)
	if err != nil || len(uses) == 0 {
		return Found{}, err
	}
	located, err := locate(ctx, p, uses)
	if err != nil {
		return Found{}, err
	}
	var found Found
	var kinds []kind
	for _, l := range located {
		known, missing := l.kinds(uses[l.path])
		kinds, found.Missing = append(kinds, known...), append(found.Missing, missing...)
	}
	left := found.search(ctx, kinds)
	if err := found.generate(ctx, p, left); err != nil {
		return Found{}, err
	}
	slices.SortFunc(found.Definitions, func(a, b Definition) int { return cmp.Compare(a.Object.GetName(), b.Object.GetName()) })
	slices.SortFunc(found.Missing, func(a, b Missing) int { return cmp.Compare(a.Kind, b.Kind) })
	return found, ctx.Err()
}
