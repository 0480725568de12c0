// Package marker is the marker language: the lines of the form
//
//	// +kubebuilder:validation:Minimum=0
//	// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
//
// by which Go comments carry facts for generators.
//
// It works in three steps, each of which is usable alone:
//
//   - [Attach] finds the markers of a syntax tree and says which of them belong
//     to the package, to a type or to a field;
//   - a [Registry], built from [Definition] values, reports which definition a
//     marker means where it stands;
//   - [Registry.Parse] turns the markers of one node into [Values], Go values of
//     the type that the definition was made from, together with
//     [report.Finding]s that carry file:line:column.
//
// A definition is made from a Go type:
//
//	type Rule struct {
//		Groups []string `marker:",optional"`
//		Verbs  []string
//		URLs   []string `marker:"urls,optional"`
//	}
//
//	var rule = marker.Define[Rule]("kubebuilder:rbac", marker.Package, "gives the operator a permission")
//
// The arguments of such a marker are the struct's fields, their names begin in
// lower case unless the tag gives another one. A type that is not a struct takes
// its value directly after the equals sign. The forms of values and the rules of
// attachment are those of controller-gen, so that existing projects keep
// their meaning.
//
// Nothing here is global: two runs may use different registries at once. Values
// and registries are not changed after they were made and may be shared between
// goroutines.
package marker
