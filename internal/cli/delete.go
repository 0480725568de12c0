package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation/projects"
)

func (inv *invocation) deleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete",
		Short: "Remove a kind, a version or webhooks from the project",
		Args:  noSubcommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addCommands(cmd, inv.deleteAPICommand(), inv.deleteVersionCommand(), inv.deleteWebhookCommand())
	return cmd
}

// bindDeletion declares the flags of `slipway delete api` and its like.
func bindDeletion(flags *pflag.FlagSet, d *projects.Deletion) {
	bindKind(flags, &d.Group, &d.Version, &d.Kind)
	flags.BoolVar(&d.WithChanges, "with-changes", false, "delete files that you have changed, too")
	bindManager(flags, &d.Manager)
	bindChange(flags, &d.Change)
}

func (inv *invocation) deleteAPICommand() *cobra.Command {
	var d projects.Deletion
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Remove a kind from the project",
		Long: `Api reverts 'slipway create api': it deletes the kind's types, CRD, controller, tests, roles and sample.
It removes the kind's lines from cmd/main.go, the test suite and the kustomizations, and its entry from
PROJECT. Files that several kinds need are deleted with the last kind. Then it generates again.

Files and lines that you have changed are kept, and so are the Go files that they use. So the project
still builds. The command reports each of them with the reason. With --with-changes it deletes changed
files, too, except those that other code uses. Types and controllers that slipway did not scaffold go with
--with-changes or not at all: as long as they stay, the command changes nothing.

With --controller-name it deletes only that additional controller.

The command changes no cluster: an installed CRD and its objects stay.`,
		Example: `  slipway delete api --group batch --version v1 --kind CronJob --dry-run
  slipway delete api --group batch --version v1 --kind CronJob`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return unchecked(cmd, done(projects.DeleteAPI(cmd.Context(), inv.session(), d)))
		},
	}
	bindDeletion(cmd.Flags(), &d)
	cmd.Flags().StringVar(&d.ControllerName, "controller-name", "", "`name` of the only controller to delete")
	return inv.acceptPlugins(cmd, false)
}

func (inv *invocation) deleteWebhookCommand() *cobra.Command {
	var d projects.WebhookDeletion
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Remove webhooks of a kind from the project",
		Long: `Webhook reverts 'slipway create webhook': for all webhooks of a kind, or for those that flags name. It
deletes their code, their tests and their lines in cmd/main.go. It deletes their manifests once no
webhook needs them. Then it generates again.

Files and lines that you have changed are kept and reported, as with 'slipway delete api'.`,
		Example: `  slipway delete webhook --group batch --version v1 --kind CronJob
  slipway delete webhook --group batch --version v1 --kind CronJob --defaulting`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return unchecked(cmd, done(projects.DeleteWebhook(cmd.Context(), inv.session(), d)))
		},
	}
	bindDeletion(cmd.Flags(), &d.Deletion)
	cmd.Flags().BoolVar(&d.Defaulting, "defaulting", false, "delete only the defaulting webhook")
	cmd.Flags().BoolVar(&d.Validation, "programmatic-validation", false, "delete only the validating webhook")
	cmd.Flags().BoolVar(&d.Conversion, "conversion", false, "delete only the conversion between versions")
	return inv.acceptPlugins(cmd, false)
}
