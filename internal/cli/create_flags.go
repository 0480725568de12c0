package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/scaffold"
)

// bindKind adds the flags that name a kind.
func bindKind(flags *pflag.FlagSet, group, version, kind *string) {
	flags.StringVar(group, "group", "", "API `group`, without the project's domain")
	flags.StringVar(version, "version", "", "API `version`, such as v1 or v1alpha1")
	flags.StringVar(kind, "kind", "", "`kind` in CamelCase, such as CronJob")
}

// generatingFlags are those of changes from which generated files follow.
type generatingFlags struct {
	changeFlags
	generate bool // --make
}

func (f *generatingFlags) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&f.generate, "make", true, "generate what follows from the code afterwards")
	f.changeFlags.bind(flags)
}

// createFlags are those of every `slipway create` command.
type createFlags struct {
	generatingFlags
	force bool // accepted; see its usage
}

func (f *createFlags) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&f.force, "force", false, "accepted for scripts; nothing needs it, and what exists is kept")
	f.generatingFlags.bind(flags)
}

// bindExternal adds the flags of kinds of other modules.
func bindExternal(flags *pflag.FlagSet, external *scaffold.External) {
	flags.StringVar(&external.Path, "external-api-path", "", "import `path` of the types of a kind of another module")
	flags.StringVar(&external.Domain, "external-api-domain", "", "`domain` of its group")
	flags.StringVar(&external.Module, "external-api-module", "", "its `module`, as example.com/module@v1.2.3, to be required in go.mod")
}

// fetchExternal has go.mod require the module that --external-api-module names. What can be refused
// without the network is refused before, by check.
func (inv *invocation) fetchExternal(ctx context.Context, root string, f createFlags, external scaffold.External, check func() error) error {
	if external.Module == "" || f.preview() {
		return nil
	}
	if err := check(); err != nil {
		return err
	}
	return scaffold.Require(ctx, root, external, inv.handler)
}
