package generate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

// ErrNoGenerator is a command line without a generator.
var ErrNoGenerator = errors.New("no generators specified")

// Parse reads arguments in controller-gen's form, in any order:
//
//	crd rbac:roleName=manager-role paths=./api/...;./internal/... output:crd:dir=config/crd/bases output:stdout
//
// A generator without an output rule of its own has the default one, and without
// a default one the zero [Output]. Each may begin with a plus sign. Paths add up;
// none means the package in the current folder. Without a generator it returns
// [ErrNoGenerator] and the rest.
func Parse(arguments []string) (Options, error) {
	all := Generators()
	registry, err := argumentRegistry(all)
	if err != nil {
		return Options{}, err
	}
	a := parsed{outputs: make(map[string]Output)}
	for _, text := range arguments {
		if err := a.add(registry, strings.TrimPrefix(text, "+")); err != nil {
			return Options{}, err
		}
	}
	return a.options()
}

// argumentRegistry knows all arguments, as markers of a package.
func argumentRegistry(all []Generator) (*marker.Registry, error) {
	definitions := append(outputDefinitions("output"), pathsDefinition())
	for _, g := range all {
		definitions = append(definitions, g.Options)
		definitions = append(definitions, outputDefinitions("output:"+g.Name)...)
	}
	return marker.NewRegistry(definitions...)
}

// paths are packages to read.
type paths []string

func pathsDefinition() marker.Definition {
	return marker.Define[paths]("paths", marker.Package, "names the packages to read: folders or import paths, with /... for all below, separated by semicolons")
}

// parsed is what was read of the arguments so far.
type parsed struct {
	uses     []Use
	paths    []string
	fallback *Output
	outputs  map[string]Output // by generator
}

// add reads one argument.
func (a *parsed) add(registry *marker.Registry, text string) error {
	value, problem := registry.ParseText(text)
	if problem != nil {
		return &report.Error{What: fmt.Sprintf("unable to parse option %q", text), Err: errors.New(problem.Message), Hint: problem.Suggestion}
	}
	if value == nil {
		return unknownOption(registry, text)
	}
	name := value.Definition.Name
	switch data := value.Data.(type) {
	case paths:
		a.paths = append(a.paths, data...)
	case outputRule:
		output := data.output()
		if generator, own := generatorOf(name); own {
			a.outputs[generator] = output
		} else {
			a.fallback = &output
		}
	default:
		if slices.ContainsFunc(a.uses, func(u Use) bool { return u.Name == name }) {
			return &report.Error{What: fmt.Sprintf("multiple instances of '%s' generator specified", name), Hint: "name the generator once, with its options separated by commas"}
		}
		options, _ := strings.CutPrefix(strings.TrimPrefix(text, name), ":")
		a.uses = append(a.uses, Use{Name: name, Options: strings.TrimPrefix(options, "=")})
	}
	return nil
}

// options puts the arguments together.
func (a *parsed) options() (Options, error) {
	for i := range a.uses {
		u := &a.uses[i]
		if a.fallback != nil {
			u.Output = *a.fallback
		}
		if own, found := a.outputs[u.Name]; found {
			u.Output = own
			delete(a.outputs, u.Name)
		}
	}
	for name := range a.outputs {
		return Options{}, &report.Error{What: fmt.Sprintf("non-invoked generator %q", name), Hint: "add the generator, or remove its output rule"}
	}
	if len(a.uses) == 0 {
		return Options{Paths: a.paths}, ErrNoGenerator
	}
	if len(a.paths) == 0 {
		a.paths = []string{"."}
	}
	return Options{Paths: a.paths, Uses: a.uses}, nil
}

// unknownOption names the nearest option.
func unknownOption(registry *marker.Registry, text string) error {
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
