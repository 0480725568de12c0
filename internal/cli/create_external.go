package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/scaffold"
)

// bindExternal adds the flags of kinds of other modules.
func (f *apiFlags) bindExternal(flags *pflag.FlagSet) {
	flags.StringVar(&f.External.Path, "external-api-path", "", "import `path` of the types of a kind of another module")
	flags.StringVar(&f.External.Domain, "external-api-domain", "", "`domain` of its group")
	flags.StringVar(&f.External.Module, "external-api-module", "", "its `module`, as example.com/module@v1.2.3, to be required in go.mod")
}

// fetchExternal has go.mod require the module that --external-api-module names. What can be refused
// without the network is refused before.
func (inv *invocation) fetchExternal(ctx context.Context, root string, f apiFlags) error {
	if f.External.Module == "" || f.preview() {
		return nil
	}
	if err := scaffold.CheckAPI(root, f.API); err != nil {
		return err
	}
	return scaffold.Require(ctx, root, f.External, inv.handler)
}
