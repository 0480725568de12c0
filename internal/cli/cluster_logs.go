package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) clusterLogsCommand() *cobra.Command {
	var o clusters.Logs
	cmd := &cobra.Command{
		Use:   "logs [COMPONENT]",
		Short: "Print the logs of a cluster's components",
		Long: `Logs prints the logs of a cluster's components since its last start, also of a cluster that has
stopped. Components are ` + strings.Join(clusters.LogComponents(), ", ") + `. Without one,
logs prints all entries in the order of their times, each with its component.

The log of the controllers shows why a Job creates no pods or a namespace is not removed. The
scheduler's log shows why a pod is not placed. The API server's log shows which webhook
fails. Each log has a maximum size; the oldest entries are dropped first.`,
		Example: `  slipway cluster logs controllers
  slipway cluster logs --tail 20 --follow
  slipway cluster logs apiserver --cluster staging`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return &report.Error{What: cmd.CommandPath() + " takes one component", Where: args[1],
				Hint: "--cluster names the cluster", Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
		},
		ValidArgs: clusters.LogComponents(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Component = strings.Join(args, "")
			return clusters.PrintLogs(cmd.Context(), inv.session(), o)
		},
	}
	flags := cmd.Flags()
	bindCluster(flags, &o.Name)
	flags.BoolVarP(&o.Follow, "follow", "f", false, "print new entries until the cluster stops")
	flags.IntVar(&o.Tail, "tail", -1, "`number` of recent entries to print first; -1 means all")
	return cmd
}
