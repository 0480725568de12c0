// Package schema turns Go types into the OpenAPI schemas of CRDs.
//
//	builder := schema.NewBuilder(loader, schema.Options{})
//	flat := builder.Flat(decl)      // no references left
//	flat.Write(w, schema.Writing{}) // as YAML
//
// There are three stages, each of which keeps its results for the whole run:
//
//   - a declaration becomes a schema of its own that refers to the declarations
//     of its fields (build.go, struct.go), with the markers of [Definitions]
//     applied to it;
//   - references are replaced by what they refer to, and what a field says
//     besides stands next to it in an allOf (flatten.go);
//   - each allOf is merged into the schema around it as far as that can be done
//     without changing what is valid (merge.go).
//
// A [Schema] that one of these returned is never changed again and is shared by all places that mean the same. The file
// known.go has the schemas of types with their own serialisation, and of Kubernetes' well-known types.
//
// The result is that of the loader's edition of controller-gen. Controller-gen's result may depend on the iteration
// order of maps: several markers of equal rank, types that contain each other. This package then does what its source
// order or the order of property names says. Controller-gen fails when it looks for a type of another package, known
// here by an alias, in this package; here the type is found.
package schema
