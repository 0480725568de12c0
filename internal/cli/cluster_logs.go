package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) clusterLogsCommand() *cobra.Command {
	var o operation.Logs
	cmd := &cobra.Command{
		Use:   "logs [COMPONENT]",
		Short: "Print what a cluster's components have logged",
		Long: `Logs prints what the components of a cluster have logged since its last start, also when it does not
run any more. Components are ` + strings.Join(operation.LogComponents(), ", ") + `; without one all
logs are printed, in the order of their times, each line with its component.

The log of the controllers says why something does not happen: a Job that cannot make its pods, a
namespace that cannot be removed. The scheduler's says why a pod is not placed, the API
server's which webhook fails. Each log is bounded in size; the oldest entries go first.`,
		Example: `  slipway cluster logs controllers
  slipway cluster logs --tail 20 --follow
  slipway cluster logs apiserver --cluster staging`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return &report.Error{What: cmd.CommandPath() + " takes one component", Where: args[1],
				Hint: "--cluster names the cluster", Next: cmd.CommandPath() + " --help", Code: usageCode}
		},
		ValidArgs: operation.LogComponents(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Component = strings.Join(args, "")
			return inv.session().ClusterLogs(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	bindCluster(flags, &o.Name)
	flags.BoolVarP(&o.Follow, "follow", "f", false, "go on printing until the cluster ends")
	flags.IntVar(&o.Tail, "tail", -1, "`number` of the last entries to begin with; -1 means all")
	return cmd
}
