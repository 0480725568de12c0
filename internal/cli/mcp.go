package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/agents"
	"github.com/slipway-dev/slipway/internal/report"
)

// mcpCommand is `slipway mcp`.
func (inv *invocation) mcpCommand() *cobra.Command {
	var server agents.Server
	var folder string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the Model Context Protocol, with which coding agents work on the project",
		Long: `Mcp serves the Model Context Protocol on standard input and output, until the input ends. A coding agent
starts it, and has tools to generate, test, run and prove the operator and to look at clusters.

The tools change files only in the folder in which mcp starts, or in that of -C. They reach only clusters that slipway
has started on this machine, unless --context or --kubeconfig names another one. Answers contain no values
of Secrets, and mark the content of objects and logs as data.

Tools such as test, run and prove run the project's code with your rights.`,
		Example: `  slipway mcp
  slipway mcp -C ~/my-operator
  slipway mcp --context kind-dev`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := inv.session()
			if folder != "" {
				s.Dir = s.Absolute(folder)
			}
			if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
				return &report.Error{What: "-C names no folder", Where: "-C " + folder, Hint: "name a folder that exists", Code: report.UsageCode}
			}
			if server.Kubeconfig != "" {
				server.Kubeconfig = inv.session().Absolute(server.Kubeconfig)
			}
			return agents.Serve(cmd.Context(), s, server)
		},
	}
	cmd.Flags().StringVar(&server.Kubeconfig, "kubeconfig", "", "kubeconfig `file` of the cluster to reach; default: only clusters of slipway's own")
	cmd.Flags().StringVar(&server.Context, "context", "", "`context` of the kubeconfig to reach; default: only clusters of slipway's own")
	cmd.Flags().StringVarP(&folder, "directory", "C", "", "`folder` of the project; default: the current one")
	return cmd
}
