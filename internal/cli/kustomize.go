package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/kustomize"
	"github.com/slipway-dev/slipway/internal/operation"
)

// kustomizeCommand is `slipway kustomize`. It leaves every flag to kustomize, and kustomize's
// own commands are made when it is called only.
func (inv *invocation) kustomizeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kustomize ARGS…",
		Short: "Run kustomize",
		Long: `Kustomize runs kustomize ` + kustomize.Version + `, which is linked in, with the arguments given: build, edit, create, localize
and all others, with their flags and exit codes. Called by the name kustomize, as by a link that slipway tools link
makes, the program is this command.

Build reads less than kustomize would: files of at most 32 MiB, 64 MiB in all, and YAML whose aliases add at most 4 MiB, since
a small file of aliases can take all memory. Bases that are addresses are fetched by git over networks alone; GIT_ALLOW_PROTOCOL=file,
a variable of git's, has it take those of this machine too, and run what their addresses name.`,
		Example: `  slipway kustomize build config/default
  slipway kustomize edit set image controller=example.com/operator:v1`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			besides := strings.TrimSpace(operation.InPlaceOf(kustomize.Version, inv.standsFor()))
			return kustomize.Run(cmd.Context(), args, kustomize.Streams{In: inv.Stdin, Out: inv.Stdout, Besides: besides})
		},
	}
}
