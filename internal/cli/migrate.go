package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/report"
)

// migrateCommand is `slipway migrate`.
func (inv *invocation) migrateCommand() *cobra.Command {
	var m delivery.Migration
	cmd := &cobra.Command{
		Use:   "migrate KIND",
		Short: "Store all objects of a kind in the version that its CRD stores",
		Long: `Migrate stores all objects of a kind in the storage version of its CRD. A cluster keeps an object as it was written
until a client writes it again. A version can leave the CRD only when no object is stored in it.

KIND is the name of the CRD, or its kind, plural, singular or short name. With --to migrate first makes sure that the
CRD stores that version.

If the cluster serves StorageVersionMigration and carries it out, migrate asks for one, and removes it in the end.
Otherwise it reads all objects in pages and writes each as it is. Webhooks and the schema see these writes; migrate
names the objects that they refuse, and goes on with the others. Last it removes the old versions from
status.storedVersions of the CRD. Migrate can be ended and begun again at any time. A second run changes nothing.

--dry-run counts the objects and changes nothing.`,
		Example: `  slipway migrate CronJob
  slipway migrate cronjobs.batch.example.com --to v1`,
		Args: oneKind,
		RunE: func(cmd *cobra.Command, args []string) error {
			m.Kind = args[0]
			return done(delivery.Migrate(cmd.Context(), inv.session(), m))
		},
	}
	bindTarget(cmd.Flags(), &m.Of, delivery.MigrateTimeout, "for all objects to be stored")
	cmd.Flags().StringVar(&m.To, "to", "", "`version` that the CRD is to store")
	cmd.Flags().BoolVar(&m.DryRun, "dry-run", false, "count the objects, and change nothing")
	return cmd
}

// oneKind refuses any other number of arguments.
func oneKind(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return &report.Error{What: "one kind is expected, by any name of its CRD", Where: strings.Join(args, " "), Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
}
