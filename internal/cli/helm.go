package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/charts"
)

func (inv *invocation) helmCommand() *cobra.Command {
	var c charts.Chart
	cmd := &cobra.Command{
		Use:   "helm",
		Short: "Make a Helm chart from the project, or update it",
		Long: `Helm makes a Helm chart from config/default. With default values, a release of the chart's name installs
the same objects. Their names begin with the release's name; a new chart is called as the kustomization's
prefix says, so that the names are the same too. Without a prefix, names stay as they are in a release of
the chart's name. Values switch the project's features and set the manager's image, replicas, arguments,
resources and more. Run helm again after each change to the project.

You may edit the chart. The next run merges: it keeps your lines and your new files, and does not
restore files that you deleted. A line that both you and the project have changed is a conflict. Helm
then shows both texts and writes nothing until you change your line or choose a side with --conflicts.
The file .slipway/base records the last run for these merges; commit it together with the chart.

Name, versions and both folders default to those of the last run.`,
		Example: `  slipway helm
  slipway helm --chart-version 0.2.0 --app-version v1.4.0
  slipway helm --diff
  helm upgrade --install my-operator dist/chart --namespace my-operator-system --create-namespace`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return done(charts.Helm(cmd.Context(), inv.session(), c)) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.Folder, "chart", "", "`folder` of the chart in the project (default: dist/chart)")
	flags.StringVar(&c.Name, "name", "", "`name` of the chart (default: the kustomization's prefix of names, or the project's name)")
	flags.StringVar(&c.Version, "chart-version", "", "`version` of the chart (default: 0.1.0)")
	flags.StringVar(&c.AppVersion, "app-version", "", "`version` of the operator (default: that of the chart)")
	flags.StringVarP(&c.Config, "kustomize", "k", "", "`folder` of the kustomization (default: the one that deploy applies)")
	flags.StringVar(&c.Conflicts, "conflicts", "", "side whose lines win if both sides changed them: `mine` or generated")
	flags.BoolVar(&c.Restore, "restore", false, "restore files of the chart that you deleted")
	bindNoGenerate(flags, &c.NoGenerate)
	bindPreview(flags, &c.Preview)
	return inv.renamed(inv.renamed(cmd, "config", "kustomize"), "version", "chart-version")
}
