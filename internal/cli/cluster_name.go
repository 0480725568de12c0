package cli

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/report"
)

// bindCluster declares the flag that names a cluster.
func bindCluster(flags *pflag.FlagSet, name *string) {
	flags.StringVar(name, "cluster", "", "`name` of the cluster; default: that of the current context, else "+clusters.DefaultCluster)
}

// ofCluster completes a verb of one cluster, which an argument or --cluster names.
func ofCluster[T any](inv *invocation, cmd *cobra.Command, do func(ctx context.Context, s *operation.Session, name string) (T, error)) *cobra.Command {
	var flag string
	bindCluster(cmd.Flags(), &flag)
	cmd.Args = oneName
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := clusterName(cmd, args, flag)
		if err != nil {
			return err
		}
		return done(do(cmd.Context(), inv.session(), name))
	}
	return cmd
}

// oneName refuses more than one argument, and an empty one: it comes from a
// variable that is not set, and must not stop or delete another cluster.
func oneName(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] == "" {
		return emptyName(cmd)
	}
	if len(args) <= 1 {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes the name of one cluster", Where: args[1],
		Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
}

func emptyName(cmd *cobra.Command) error {
	return &report.Error{What: "the name of the cluster is empty", Hint: "without a name, the command takes the cluster of the current context",
		Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
}

// clusterName is the name that an argument or --cluster gives; empty if neither does.
func clusterName(cmd *cobra.Command, args []string, flag string) (string, error) {
	switch {
	case cmd.Flags().Changed("cluster") && flag == "":
		return "", emptyName(cmd)
	case len(args) == 0:
		return flag, nil
	case flag != "" && flag != args[0]:
		return "", &report.Error{What: "the command names two clusters", Where: args[0] + " --cluster " + flag, Next: cmd.CommandPath() + " " + args[0], Code: report.UsageCode}
	}
	return args[0], nil
}
