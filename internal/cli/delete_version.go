package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/projects"
	"github.com/slipway-dev/slipway/project"
)

func (inv *invocation) deleteVersionCommand() *cobra.Command {
	var d projects.VersionDeletion
	var renames []string
	cmd := &cobra.Command{
		Use:   "version VERSION",
		Short: "Remove a version of a kind, and have the code use another one",
		Long: `Version reverts 'slipway create version': it deletes the types of a version, their conversion and registrations, and
the version's entry in PROJECT. Another version of the kind stays, and the project's code uses that: controllers,
webhooks with their markers and tests, samples and examples. Then it generates again.

The code uses the only version that stays, or the hub. If there are several and the hub goes, name one with --to: it
becomes the hub. One version alone needs no conversion. Fields get the names that they have in that version, if the
conversion copies them or --rename names them.

The command refuses to delete types and conversions that you have changed, unless no line is lost; with --with-changes
it deletes them. It refuses a change after which the code would not compile, and lists the lines.

The command changes no cluster. Objects that are stored in the version must be migrated first; see 'slipway migrate'.`,
		Example: `  slipway delete version v1 --group batch --kind CronJob --dry-run
  slipway delete version v1alpha1 --group batch --kind CronJob --to v1
  slipway delete version v2 --group web --kind Site --rename routes=paths`,
		Args: newVersion,
		RunE: func(cmd *cobra.Command, args []string) error {
			d.Version = args[0]
			var err error
			if d.Rename, err = parseRenames(renames); err != nil {
				return err
			}
			return inv.deleteVersion(cmd, d)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&d.Group, "group", "", "API `group` of the kind, such as batch")
	flags.StringVar(&d.Kind, "kind", "", "`name` of the kind, such as CronJob")
	flags.StringVar(&d.To, "to", "", "`version` that the code is to use; default: the only other one, or the hub")
	flags.StringSliceVar(&renames, "rename", nil, "`old=new` names of fields in JSON, in this version and the other one")
	flags.BoolVar(&d.WithChanges, "with-changes", false, "delete files that you have changed, too")
	bindManager(flags, &d.Manager)
	bindChange(flags, &d.Change)
	return cmd
}

// deleteVersion is the run of `slipway delete version`.
func (inv *invocation) deleteVersion(cmd *cobra.Command, d projects.VersionDeletion) error {
	session := inv.session()
	if _, err := session.ProjectRoot(); err != nil {
		return err
	}
	kinds, version := operation.Kinds(session), d.Version
	takeOnlyKind(kinds, &d.Group, &d.Kind, &version)
	version = ""
	takeOnlyKind(kinds, &d.Group, &d.Kind, &version) // the kind has no such version any more
	if err := inv.askMissing(cmd,
		question{flag: "group", text: "Group, without the domain", answer: &d.Group, optional: true, check: project.ValidateGroup},
		question{flag: "kind", text: "Kind, such as CronJob", answer: &d.Kind, check: project.ValidateKind}); err != nil {
		return err
	}
	return unchecked(cmd, done(projects.DeleteVersion(cmd.Context(), session, d)))
}
