package kubernetes

import (
	"github.com/spf13/pflag"
	applyargs "k8s.io/code-generator/cmd/applyconfiguration-gen/args"
	applygen "k8s.io/code-generator/cmd/applyconfiguration-gen/generators"
	clientargs "k8s.io/code-generator/cmd/client-gen/args"
	clientgen "k8s.io/code-generator/cmd/client-gen/generators"
	informerargs "k8s.io/code-generator/cmd/informer-gen/args"
	informergen "k8s.io/code-generator/cmd/informer-gen/generators"
	listerargs "k8s.io/code-generator/cmd/lister-gen/args"
	listergen "k8s.io/code-generator/cmd/lister-gen/generators"
	"k8s.io/code-generator/pkg/util"
	"k8s.io/gengo/v2/generator"
	"k8s.io/gengo/v2/namer"
	"k8s.io/gengo/v2/types"

	"github.com/slipway-dev/slipway/internal/codegen/wire"
)

// prepared is a generator whose arguments were read.
type prepared struct {
	names   namer.NameSystems
	order   string // the name system that gives types their order
	targets func(*generator.Context) []generator.Target
}

// tools read the arguments of generators, as the main functions of
// k8s.io/code-generator/cmd/*-gen do.
var tools = map[string]func(run wire.Run, arguments []string) (prepared, error){
	wire.ApplyConfigurations: func(run wire.Run, arguments []string) (prepared, error) {
		a := applyargs.New()
		for name, pkg := range run.Externals {
			a.ExternalApplyConfigurations[types.ParseFullyQualifiedName(name)] = pkg
		}
		err := parse(arguments, func(fs *pflag.FlagSet) { a.AddFlags(fs, "") }, a.Validate)
		return prepared{applygen.NameSystems(), applygen.DefaultNameSystem(), func(c *generator.Context) []generator.Target {
			return applygen.GetTargets(c, a)
		}}, err
	},
	wire.Clientset: func(_ wire.Run, arguments []string) (prepared, error) {
		a := clientargs.New()
		err := parse(arguments, func(fs *pflag.FlagSet) { a.AddFlags(fs, "") }, a.Validate)
		names := clientgen.NameSystems(util.PluralExceptionListToMapOrDie(a.PluralExceptions))
		return prepared{names, clientgen.DefaultNameSystem(), func(c *generator.Context) []generator.Target {
			return clientgen.GetTargets(c, a)
		}}, err
	},
	wire.Listers: func(_ wire.Run, arguments []string) (prepared, error) {
		a := listerargs.New()
		err := parse(arguments, a.AddFlags, a.Validate)
		names := listergen.NameSystems(util.PluralExceptionListToMapOrDie(a.PluralExceptions))
		return prepared{names, listergen.DefaultNameSystem(), func(c *generator.Context) []generator.Target {
			return listergen.GetTargets(c, a)
		}}, err
	},
	wire.Informers: func(_ wire.Run, arguments []string) (prepared, error) {
		a := informerargs.New()
		err := parse(arguments, a.AddFlags, a.Validate)
		names := informergen.NameSystems(util.PluralExceptionListToMapOrDie(a.PluralExceptions))
		return prepared{names, informergen.DefaultNameSystem(), func(c *generator.Context) []generator.Target {
			return informergen.GetTargets(c, a)
		}}, err
	},
}

func parse(arguments []string, add func(*pflag.FlagSet), validate func() error) error {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	add(fs)
	if err := fs.Parse(arguments); err != nil {
		return err
	}
	return validate()
}
