package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

// defaultConfig is the folder that deploys a project as it is scaffolded.
const defaultConfig = "config/default"

func (inv *invocation) helmCommand() *cobra.Command {
	var c operation.Chart
	cmd := &cobra.Command{
		Use:   "helm",
		Short: "Make a Helm chart of the project, or bring it up to date",
		Long: `Helm makes a Helm chart of what config/default deploys. By itself, the chart installs the same objects;
its values switch the project's features and set the manager's image, replicas, arguments, resources and
more. Run it again whenever the project has changed.

The chart is yours to edit. Made again, it is merged with what you have changed: your lines stay,
files that you added stay, files that you deleted stay away. Lines that you and the project have both
changed are a conflict: it is told with both texts, and nothing is written until you change your
line or decide for one side with --conflicts. What was made last is kept in .slipway/base for that, so
commit it together with the chart.

Name, versions and folder are those of the last time unless flags give others.`,
		Example: `  slipway helm
  slipway helm --chart-version 0.2.0 --app-version v1.4.0
  slipway helm --diff
  helm upgrade --install my-operator dist/chart --namespace my-operator-system --create-namespace`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.session().Helm(cmd.Context(), c) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.Folder, "chart", "", "`folder` of the chart in the project (default dist/chart)")
	flags.StringVar(&c.Name, "name", "", "`name` of the chart (default that of the project)")
	flags.StringVar(&c.Version, "chart-version", "", "`version` of the chart (default 0.1.0)")
	flags.StringVar(&c.AppVersion, "app-version", "", "`version` of the operator (default that of the chart)")
	flags.StringVarP(&c.Config, "kustomize", "k", defaultConfig, "the `folder` with the kustomization")
	flags.StringVar(&c.Conflicts, "conflicts", "", "whose lines are taken where both sides changed them: `mine` or generated")
	flags.BoolVar(&c.Restore, "restore", false, "make files again that you deleted")
	bindNoGenerate(flags, &c.NoGenerate)
	bindPreview(flags, &c.Preview)
	return inv.renamed(inv.renamed(cmd, "config", "kustomize"), "version", "chart-version")
}
