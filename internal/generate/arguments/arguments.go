// Package arguments reads controller-gen's command line: which generator writes where from what. It knows no generator,
// and takes their options as they stand.
//
//	rest, tags, err := arguments.WithoutFlags(call.Arguments)
//	read, err := arguments.Read(rest, names)
//	for _, use := range read.Uses {
//		use.Output.Folder(use.Name) // config/crd/bases
//	}
package arguments

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/recipe"
	"github.com/slipway-dev/slipway/internal/report"
)

// Program is controller-gen, as Makefiles and scripts call it.
func Program() recipe.Program {
	return recipe.Program{Name: "controller-gen", Variable: "CONTROLLER_GEN", Package: "sigs.k8s.io/controller-tools/cmd/controller-gen"}
}

// VersionAnnotation is the annotation by which a CRD says which version of controller-gen wrote it. A file without it
// is written by hand.
const VersionAnnotation = "controller-gen.kubebuilder.io/version"

// Use is one generator of a run.
type Use struct {
	// Name is the generator's name.
	Name string
	// Options are its options as after the colon of a marker:
	// maxDescLen=80,headerFile=hack/boilerplate.yaml.txt
	Options string
	// Output says where its files go.
	Output Output
}

// Option is the value of an option that names a file, without its quotes; "" where the option is not there.
func (u Use) Option(name string) string {
	for option := range strings.SplitSeq(u.Options, ",") {
		if key, value, _ := strings.Cut(option, "="); strings.TrimSpace(key) == name {
			return strings.Trim(value, " \"`'")
		}
	}
	return ""
}

// Call is what a command line asks for.
type Call struct {
	Uses  []Use
	Paths []string // the packages to read; none means the one in the current folder
}

// Read reads arguments without flags, in any order; each may begin with a plus sign. Names are the generators that
// there are. One without an output rule of its own has the default rule, and without a default rule the zero
// [Output]. Of several rules for the same the last one holds. Paths add up.
func Read(arguments, names []string) (Call, error) {
	registry, err := marker.NewRegistry(Definitions(names...)...)
	if err != nil {
		return Call{}, err
	}
	r := reading{registry: registry.AlsoKnown(names...), names: names, outputs: make(map[string]Output)}
	for _, text := range arguments {
		if err := r.add(strings.TrimPrefix(text, "+")); err != nil {
			return Call{}, err
		}
	}
	return r.call()
}

// Definitions are all arguments but those that run a generator, as markers of a package.
func Definitions(generators ...string) []marker.Definition {
	definitions := append(Rules("output"), Paths())
	for _, name := range generators {
		definitions = append(definitions, Rules("output:"+name)...)
	}
	return definitions
}

// paths are packages to read.
type paths []string

// Paths is the argument that names packages.
func Paths() marker.Definition {
	return marker.Define[paths]("paths", marker.Package, "names the packages to read: folders or import paths, with /... for all below, separated by semicolons")
}

// Value reads one argument as it is defined. What is wrong is reported in controller-gen's words.
func Value(registry *marker.Registry, text string) (*marker.Value, error) {
	value, problem := registry.ParseText(text)
	if problem != nil {
		return nil, &report.Error{What: fmt.Sprintf("unable to parse option %q", text), Err: errors.New(problem.Message), Hint: problem.Suggestion}
	}
	if value == nil {
		return nil, unknown(registry, text)
	}
	return value, nil
}

// unknown names the nearest argument.
func unknown(registry *marker.Registry, text string) error {
	e := &report.Error{What: fmt.Sprintf("unknown option %q", text)}
	word, _, _ := strings.Cut(text, "=")
	if at := strings.LastIndex(word, ":"); at > 0 && len(word) < len(text) {
		word = word[:at]
	}
	if near := registry.Nearest(word); near != "" {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}

// reading is what was read of the arguments so far.
type reading struct {
	registry *marker.Registry
	names    []string
	uses     []Use
	paths    []string
	fallback Output
	outputs  map[string]Output // by generator
}

// add reads one argument.
func (r *reading) add(text string) error {
	if name, options, is := r.generator(text); is {
		return r.use(name, options)
	}
	value, err := Value(r.registry, text)
	if err != nil {
		return err
	}
	switch data := value.Data.(type) {
	case paths:
		r.paths = append(r.paths, data...)
	case outputRule:
		if generator, own := generatorOf(value.Definition.Name); own {
			r.outputs[generator] = data.output()
		} else {
			r.fallback = data.output()
		}
	}
	return nil
}

// generator cuts an argument that runs a generator into its name and its options.
func (r *reading) generator(text string) (name, options string, is bool) {
	name = text
	if end := strings.IndexAny(text, ":="); end >= 0 {
		name, options = text[:end], text[end+1:]
	}
	return name, options, slices.Contains(r.names, name)
}

// use adds a generator.
func (r *reading) use(name, options string) error {
	if slices.ContainsFunc(r.uses, func(u Use) bool { return u.Name == name }) {
		return &report.Error{What: fmt.Sprintf("multiple instances of '%s' generator specified", name), Hint: "name the generator once, with its options separated by commas"}
	}
	r.uses = append(r.uses, Use{Name: name, Options: strings.TrimPrefix(options, "=")})
	return nil
}

// call puts the arguments together.
func (r *reading) call() (Call, error) {
	for i := range r.uses {
		u := &r.uses[i]
		u.Output = r.fallback
		if own, found := r.outputs[u.Name]; found {
			u.Output = own
			delete(r.outputs, u.Name)
		}
	}
	if left := slices.Sorted(maps.Keys(r.outputs)); len(left) > 0 {
		return Call{}, &report.Error{What: fmt.Sprintf("non-invoked generator %q", left[0]), Hint: "add the generator, or remove its output rule"}
	}
	return Call{Uses: r.uses, Paths: r.paths}, nil
}
