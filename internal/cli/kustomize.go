package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/kustomize/v5/commands"

	"github.com/slipway-dev/slipway/internal/report"
)

// kustomizeCommand is `slipway kustomize`. It leaves every flag to kustomize, and kustomize's
// own commands are made when it is called only.
func (inv *invocation) kustomizeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kustomize ARGS…",
		Short: "Run kustomize",
		Long: `Kustomize runs kustomize ` + kustomizeVersion + `, which is linked in, with the arguments given: build, edit, create, localize
and all others, with their flags and exit codes. Called by the name kustomize, as by a link that slipway tools link
makes, the program is this command.`,
		Example: `  slipway kustomize build config/default
  slipway kustomize edit set image controller=example.com/operator:v1`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return inv.kustomize(cmd.Context(), args)
		},
	}
}

// kustomizeVersion is the version that is linked in.
const kustomizeVersion = "v5.8.1"

// kustomize runs a command line of kustomize, which shows its own errors on stderr.
func (inv *invocation) kustomize(ctx context.Context, args []string) error {
	root := commands.NewDefaultCommand()
	root.SetArgs(args)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(inv.Stdin)
	cmd, err := root.ExecuteContextC(ctx)
	if other := inv.inPlaceOf(kustomizeVersion); err == nil && other != "" && cmd.Name() == "version" {
		_, err = fmt.Fprintln(inv.Stdout, strings.TrimSpace(other))
	}
	if err == nil {
		return nil
	}
	return &report.Error{What: err.Error(), Next: cmd.CommandPath() + " --help"}
}
