package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/kustomize"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
)

// kustomizeCommand is `slipway kustomize`. It leaves every flag to kustomize, and kustomize's
// own commands are made when it is called only.
func (inv *invocation) kustomizeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kustomize ARGS…",
		Short: "Run kustomize",
		Long: `Kustomize runs kustomize ` + kustomize.Version + `, which is part of slipway: build, edit, create, localize
and all other commands, with their flags and exit codes. A link named kustomize to the program runs this command;
slipway tools link makes such links.

No command writes through a symbolic link that leads out of the project, or outside of a project out of the working
folder. A path elsewhere that the command line names is written to.

Build has limits that kustomize lacks: 32 MiB a file, 64 MiB in all, and 4 MiB added by YAML aliases, since
a small file of aliases can fill all memory. It reports each address on stderr before it fetches it. A file
must arrive within one minute. A repository may have 256 MiB and must arrive within two minutes; submodules are not
fetched. Git fetches bases over networks only. With git's variable GIT_ALLOW_PROTOCOL=file it also reads
repositories of this machine, and can run programs that their addresses name.`,
		Example: `  slipway kustomize build config/default
  slipway kustomize edit set image controller=example.com/operator:v1`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			besides := strings.TrimSpace(generation.InPlaceOf(kustomize.Version, inv.standsFor()))
			return kustomize.Run(cmd.Context(), args, kustomize.Surroundings{In: inv.Stdin, Out: inv.Stdout, Project: operation.Surroundings(inv.session()), Besides: besides, Announce: func(address string) {
				inv.handler.Handle(report.Note{Text: "fetching " + address})
			}})
		},
	}
}
