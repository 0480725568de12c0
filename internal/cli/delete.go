package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation"
)

func (inv *invocation) deleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete",
		Short: "Take out of the project what create made",
		Args:  noSubcommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addCommands(cmd, inv.deleteAPICommand(), inv.deleteWebhookCommand())
	return cmd
}

// bindDeletion declares the flags of `slipway delete api` and its like.
func bindDeletion(flags *pflag.FlagSet, d *operation.Deletion) {
	bindKind(flags, &d.Group, &d.Version, &d.Kind)
	flags.BoolVar(&d.WithChanges, "with-changes", false, "delete files that you have changed, too")
	bindChange(flags, &d.Change)
}

func (inv *invocation) deleteAPICommand() *cobra.Command {
	var d operation.Deletion
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Take a kind out of the project",
		Long: `Api undoes what created a kind: it deletes its types, CRD, controller, tests, roles and sample,
takes its lines out of cmd/main.go, the tests' suite and the kustomizations, and its entry out of
PROJECT. What other kinds need too goes with the last of them. Then it generates again.

What you have changed stays: a file that is not as it was scaffolded, a line that reads otherwise,
and Go files that those use, so that the project still builds. Each is told, with its reason.
With --with-changes changed files go too; those that other code uses still stay.

With --controller-name only that controller goes, one that was created beside the kind's first.

Clusters are left alone: the CRD and its objects stay where they are installed.`,
		Example: `  slipway delete api --group batch --version v1 --kind CronJob --dry-run
  slipway delete api --group batch --version v1 --kind CronJob`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return inv.session().DeleteAPI(cmd.Context(), d)
		},
	}
	bindDeletion(cmd.Flags(), &d)
	cmd.Flags().StringVar(&d.ControllerName, "controller-name", "", "`name` of the controller that alone goes")
	return inv.acceptPlugins(cmd, false)
}

func (inv *invocation) deleteWebhookCommand() *cobra.Command {
	var d operation.WebhookDeletion
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Take webhooks of a kind out of the project",
		Long: `Webhook undoes what created webhooks of a kind: all of them, or those that the flags name. Their code
and tests go, what deploys them once nothing needs it any more, and the lines in cmd/main.go that
serve them. Then it generates again.

What you have changed stays and is told, as with slipway delete api.`,
		Example: `  slipway delete webhook --group batch --version v1 --kind CronJob
  slipway delete webhook --group batch --version v1 --kind CronJob --defaulting`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return inv.session().DeleteWebhook(cmd.Context(), d)
		},
	}
	bindDeletion(cmd.Flags(), &d.Deletion)
	cmd.Flags().BoolVar(&d.Defaulting, "defaulting", false, "only the defaulting webhook")
	cmd.Flags().BoolVar(&d.Validation, "programmatic-validation", false, "only the validating webhook")
	cmd.Flags().BoolVar(&d.Conversion, "conversion", false, "only the conversion between versions")
	return inv.acceptPlugins(cmd, false)
}
