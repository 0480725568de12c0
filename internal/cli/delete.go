package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
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

// deleteFlags are the flags of `slipway delete api` and its like.
type deleteFlags struct {
	scaffold.Deletion
	generatingFlags
}

func (f *deleteFlags) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	bindKind(flags, &f.Group, &f.Version, &f.Kind)
	flags.BoolVar(&f.WithChanges, "with-changes", false, "delete files that you have changed, too")
	f.generatingFlags.bind(flags)
}

func (inv *invocation) deleteAPICommand() *cobra.Command {
	var f deleteFlags
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
			return inv.delete(cmd.Context(), f, func(root string) (*scaffold.Plan, error) { return scaffold.DeleteAPI(root, f.Deletion) })
		},
	}
	f.bind(cmd)
	cmd.Flags().StringVar(&f.ControllerName, "controller-name", "", "`name` of the controller that alone goes")
	return cmd
}

func (inv *invocation) deleteWebhookCommand() *cobra.Command {
	var f deleteFlags
	var d scaffold.WebhookDeletion
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
			d.Options = f.Deletion
			return inv.delete(cmd.Context(), f, func(root string) (*scaffold.Plan, error) { return scaffold.DeleteWebhook(root, d) })
		},
	}
	f.bind(cmd)
	cmd.Flags().BoolVar(&d.Defaulting, "defaulting", false, "only the defaulting webhook")
	cmd.Flags().BoolVar(&d.Validation, "programmatic-validation", false, "only the validating webhook")
	cmd.Flags().BoolVar(&d.Conversion, "conversion", false, "only the conversion between versions")
	return cmd
}

// delete is the run of `slipway delete` with the plan of one of its commands.
func (inv *invocation) delete(ctx context.Context, f deleteFlags, plan func(root string) (*scaffold.Plan, error)) error {
	root, err := inv.projectRoot()
	if err != nil {
		return err
	}
	var made *scaffold.Plan
	return inv.change(ctx, root, f.changeFlags, func() (*scaffold.Plan, error) {
		made, err = plan(root)
		return made, err
	}, func() error { return inv.afterDelete(ctx, root, f, made) })
}

// afterDelete generates what follows from the code that is left, and says what stayed.
func (inv *invocation) afterDelete(ctx context.Context, root string, f deleteFlags, made *scaffold.Plan) error {
	if f.generate {
		if err := inv.generateOnly(ctx, root); err != nil {
			return err
		}
	}
	kept := 0
	for _, file := range made.Changes() {
		if file.Why != "" {
			kept++
		}
	}
	if kept > 0 {
		inv.handler.Handle(report.Note{Text: fmt.Sprintf("%s stayed, in whole or in part; the reasons are told above", count(kept, "file"))})
	}
	return nil
}
