package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) clusterPruneCommand() *cobra.Command {
	var p clusters.Pruning
	cmd := ofCluster(inv, &cobra.Command{
		Use:   "prune [NAME]",
		Short: "Remove superseded images from a cluster",
		Long: `Prune removes superseded images from the registry of a running cluster, and from its isolated and plain
nodes. A cluster does that by itself after an hour, when the next image arrives.

These images stay:
- the one that a tag leads to, and the one that it led to before;
- those that a container runs, or that a pod or the pod template of a workload names;
- those that were superseded or requested within --older-than;
- those that a node pulled by digest, and what a push under way relies on.

Simulated nodes have no images. A stopped node keeps its own. Prune does not prompt.`,
		Example: `  slipway cluster prune --dry-run
  slipway cluster prune --older-than 0s`,
	}, func(ctx context.Context, s *operation.Session, name string) (*clusters.Pruned, error) {
		if p.OlderThan < 0 {
			return nil, &report.Error{What: "a time is not negative", Where: "--older-than", Next: "slipway cluster prune --help"}
		}
		return clusters.Prune(ctx, s, name, p)
	})
	cmd.Flags().BoolVar(&p.DryRun, "dry-run", false, "list what would be removed, and remove nothing")
	cmd.Flags().DurationVar(&p.OlderThan, "older-than", clusters.SupersededFor, "only what was superseded, and last requested, before this `time`, such as 10m or 0s")
	return cmd
}
