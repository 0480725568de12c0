// Package wire is what slipway and its program slipway-codegen say to each other: a [Request] as JSON on the program's
// standard input, and an [Answer] on its standard output. Both are built from it, so the form is in one place; a
// program of another version is reported by [Protocol].
package wire

import "encoding/json"

// Protocol is the number of the form that requests and answers have.
const Protocol = 1

// The generators of k8s.io/code-generator that the program has.
const (
	ApplyConfigurations = "applyconfiguration-gen"
	Clientset           = "client-gen"
	Listers             = "lister-gen"
	Informers           = "informer-gen"
)

// Request is what the program is asked to do.
type Request struct {
	Protocol int `json:"protocol"`
	// Dir is the folder in whose module packages are looked up, absolute.
	Dir  string `json:"dir"`
	Runs []Run  `json:"runs"`
	// World are the packages of the runs, and of what these import all that says what their types are; if it is empty,
	// the program asks the go command.
	World []Package `json:"world,omitempty"`
}

// Package is as much of a package as is to be read.
type Package struct {
	Path    string            `json:"path"`
	Name    string            `json:"name"`
	Files   []string          `json:"files"` // absolute
	Imports map[string]string `json:"imports,omitempty"`
}

// Run is one run of one generator.
type Run struct {
	// Generator is one of those above.
	Generator string `json:"generator"`
	// Name is the program that generated files say they come from; "" is Generator.
	Name string `json:"name,omitempty"`
	// Arguments are the generator's own, as on its command line, without packages.
	Arguments []string `json:"arguments"`
	// Packages are the import paths of the packages to read.
	Packages []string `json:"packages"`
	// Tags are added to the comments of packages and of their types.
	Tags []Tag `json:"tags,omitempty"`
	// Externals are packages with apply configurations of types that are not among
	// Packages, by the types' full names.
	Externals map[string]string `json:"externals,omitempty"`
	// Schema is an OpenAPI v2 document that describes the types; nil is none.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// Tag is a comment, like "+genclient", that a package or a type is read with.
type Tag struct {
	Package string `json:"package"`
	Type    string `json:"type,omitempty"` // "" is the package
	Text    string `json:"text"`
}

// Answer is what the program made of a request. It writes nothing itself.
type Answer struct {
	Protocol int    `json:"protocol"`
	Files    []File `json:"files"`
	// Problem is why there are no files.
	Problem string `json:"problem,omitempty"`
}

// File is a file that was generated.
type File struct {
	Path    string `json:"path"` // absolute
	Content []byte `json:"content"`
}
