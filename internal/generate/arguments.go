package generate

import (
	"errors"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
)

// ErrNoGenerator is a command line without a generator.
var ErrNoGenerator = errors.New("no generators specified")

// Use is one generator of a run.
type Use = arguments.Use

// Output says where a generator's files go.
type Output = arguments.Output

// The destinations of an [Output].
const (
	ToFiles   = arguments.ToFiles
	ToStdout  = arguments.ToStdout // see [Result.Printed]
	ToNothing = arguments.ToNothing
)

// Parse reads arguments in controller-gen's form, in any order:
//
//	crd rbac:roleName=manager-role paths=./api/...;./internal/... output:crd:dir=config/crd/bases output:stdout
//
// They mean what [arguments.Read] says, and options of generators have to be right. Paths default to the package in
// the current folder. Without a generator it returns [ErrNoGenerator] and the rest.
func Parse(args []string) (Options, error) {
	all := Generators()
	if err := check(args, all); err != nil {
		return Options{}, err
	}
	call, err := arguments.Read(args, namesOf(all))
	switch {
	case err != nil:
		return Options{}, err
	case len(call.Uses) == 0:
		return Options{Paths: call.Paths}, ErrNoGenerator
	case len(call.Paths) == 0:
		call.Paths = []string{"."}
	}
	return Options{Paths: call.Paths, Uses: call.Uses}, nil
}

// check looks at each argument as its generator defines it.
func check(args []string, all []Generator) error {
	definitions := arguments.Definitions(namesOf(all)...)
	for _, g := range all {
		definitions = append(definitions, g.Options)
	}
	registry, err := marker.NewRegistry(definitions...)
	if err != nil {
		return err
	}
	for _, text := range args {
		if _, err := arguments.Value(registry, strings.TrimPrefix(text, "+")); err != nil {
			return err
		}
	}
	return nil
}
