package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/proving"
)

// proveCommand is `slipway prove`.
func (inv *invocation) proveCommand() *cobra.Command {
	var p proving.Proof
	cmd := &cobra.Command{
		Use:   "prove [-f SCENARIO]",
		Short: "Find out what the operator does wrong when something fails",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return done(proving.Prove(cmd.Context(), inv.session(), p))
		},
	}
	f := cmd.Flags()
	f.StringVarP(&p.Scenario, "file", "f", "", "`file` with the scenario; default: the samples are applied, changed and deleted")
	f.IntVar(&p.Clusters, "clusters", 2, "`number` of clusters side by side")
	f.BoolVar(&p.All, "all", false, "faults at every request, not only at the first of its sort in a step")
	f.StringVar(&p.Replay, "replay", "", "run the plan with this `ID` only")
	bindManager(f, &p.Manager)
	return cmd
}
