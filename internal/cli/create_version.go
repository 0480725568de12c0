package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/projects"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

func (inv *invocation) createVersionCommand() *cobra.Command {
	var v projects.Version
	var renames []string
	cmd := &cobra.Command{
		Use:   "version VERSION",
		Short: "Add a version of a kind, with the types of another version",
		Long: `Version adds a version to a kind. It copies the types of the version that --from names, with their markers, and
whatever they need in their package. A conversion converts the objects of all versions; a fuzz test beside it fails if
data are lost.

With --rename a field gets another name in the new version, in JSON and in Go, and so do its uses in the code. The
conversion copies it.

The new version becomes the hub, and the cluster stores objects in it. The project's code then uses the new version:
controllers, webhooks with their markers and tests, samples and examples. The old version is still served. With
--storage=false the old version stays the hub, and the code goes on to use it.

The command refuses a change after which the code would not compile, and lists the lines. It says so if it cannot check
that, since Go's build cache lacks packages that the code imports. Objects stay stored in the
old version until they are written; 'slipway migrate' writes all of them.`,
		Example: `  slipway create version v1 --from v1alpha1 --group batch --kind CronJob
  slipway create version v1beta1 --from v1alpha1 --group web --kind Site --rename paths=routes
  slipway create version v2alpha1 --from v1 --group batch --kind CronJob --storage=false --diff`,
		Args: newVersion,
		RunE: func(cmd *cobra.Command, args []string) error {
			v.Version.Version = args[0]
			var err error
			if v.Rename, err = parseRenames(renames); err != nil {
				return err
			}
			return inv.createVersion(cmd, v)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&v.Group, "group", "", "API `group` of the kind, such as batch")
	flags.StringVar(&v.Kind, "kind", "", "`name` of the kind, such as CronJob")
	flags.StringVar(&v.From, "from", "", "the `version` whose types are copied")
	flags.StringSliceVar(&renames, "rename", nil, "`old=new` names of fields in JSON, for the new version")
	flags.BoolVar(&v.Storage, "storage", true, "make the new version the hub, and store objects in it")
	bindSkipWiring(flags, &v.SkipWiring)
	bindManager(flags, &v.Manager)
	bindChange(flags, &v.Change)
	return cmd
}

// newVersion refuses any other number of arguments.
func newVersion(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return &report.Error{What: "one version is expected, such as v1", Where: strings.Join(args, " "), Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
}

// createVersion is the run of `slipway create version`.
func (inv *invocation) createVersion(cmd *cobra.Command, v projects.Version) error {
	session := inv.session()
	if _, err := session.ProjectRoot(); err != nil {
		return err
	}
	takeOnlyKind(operation.Kinds(session), &v.Group, &v.Kind, &v.From)
	if err := inv.askMissing(cmd,
		question{flag: "group", text: "Group, without the domain", answer: &v.Group, optional: true, check: project.ValidateGroup},
		question{flag: "from", text: "Version to copy, such as v1alpha1", answer: &v.From, check: project.ValidateVersion},
		question{flag: "kind", text: "Kind, such as CronJob", answer: &v.Kind, check: project.ValidateKind}); err != nil {
		return err
	}
	return unchecked(cmd, done(projects.CreateVersion(cmd.Context(), session, v)))
}

// parseRenames reads pairs of names.
func parseRenames(pairs []string) (map[string]string, error) {
	renames := map[string]string{}
	for _, pair := range pairs {
		old, now, ok := strings.Cut(pair, "=")
		if !ok || old == "" || now == "" || renames[old] != "" {
			return nil, &report.Error{What: "two names of a field are expected, once for each field", Where: "--rename " + pair, Hint: "expected old=new, such as paths=routes", Code: report.UsageCode}
		}
		renames[old] = now
	}
	return renames, nil
}

// takeOnlyKind completes the kind if the project has only one that the flags may mean, and its version if it has one.
func takeOnlyKind(kinds []project.Resource, group, kind, version *string) {
	meant := slices.DeleteFunc(slices.Clone(kinds), func(r project.Resource) bool {
		return r.API == nil || *group != "" && r.Group != *group || *kind != "" && r.Kind != *kind || *version != "" && r.Version != *version
	})
	if len(meant) == 0 || slices.ContainsFunc(meant, func(r project.Resource) bool { return r.Group != meant[0].Group || r.Kind != meant[0].Kind }) {
		return
	}
	*group, *kind = meant[0].Group, meant[0].Kind
	if len(meant) == 1 {
		*version = meant[0].Version
	}
}
