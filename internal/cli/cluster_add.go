package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

const clusterAddLong = `Add brings an add-on into an embedded cluster: what operators often need besides themselves. It returns when the
add-on serves: kinds are known, programs run, their webhooks answer. Without a name it lists the add-ons, their
versions, and which of them the cluster has.

No image or manifest comes from elsewhere. The go command gets the add-on's Go modules from where GOPROXY says, and
slipway compiles their programs once. A second run changes nothing; after 'slipway cluster reset' it brings the add-on back
within seconds. 'slipway cluster keep' has resets keep it.

Programs need a real node: one joins, as for 'slipway image load'. A cluster with simulated nodes alone takes
only add-ons that consist of definitions.

cert-manager has self-signed issuers and those of an authority in a Secret. It leaves out what reaches for other services:
ACME, Vault and Venafi (CyberArk) issuers. It leaves out certificates for annotated Ingresses, too. docs/guides/add-ons.md has more.

'slipway cluster remove' takes an add-on out again.`

func (inv *invocation) clusterAddCommand() *cobra.Command {
	var a operation.Addition
	cmd := &cobra.Command{
		Use:   "add [ADD-ON]",
		Short: "Bring cert-manager or others into a cluster",
		Long:  clusterAddLong,
		Example: `  slipway cluster add
  slipway cluster add cert-manager
  slipway cluster add prometheus-crds --cluster staging`,
		ValidArgs: operation.AddonNames(),
		Args:      oneAddon,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return inv.session().ListAddons(cmd.Context(), a.Cluster)
			}
			a.Addon = args[0]
			return inv.session().AddToCluster(cmd.Context(), a)
		},
	}
	flags := cmd.Flags()
	bindCluster(flags, &a.Cluster)
	flags.BoolVar(&a.Force, "force-conflicts", false, "take over what another tool brought")
	flags.DurationVar(&a.Timeout, "timeout", operation.DeployTimeout, "how long the add-on may take to run, once it is compiled")
	return cmd
}

// oneAddon refuses more than one argument, and an empty one.
func oneAddon(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || len(args) == 1 && args[0] != "" {
		return nil
	}
	e := &report.Error{What: cmd.CommandPath() + " takes the name of one add-on", Next: "slipway cluster add", Code: usageCode}
	if len(args) > 1 {
		e.Where = args[1]
	}
	return e
}

func (inv *invocation) clusterRemoveCommand() *cobra.Command {
	var r operation.Subtraction
	cmd := &cobra.Command{
		Use:   "remove ADD-ON",
		Short: "Take an add-on out of a cluster",
		Long: `Remove takes an add-on out of an embedded cluster: its definitions, with all objects of these kinds, then all else.
It returns when they are gone. What another tool brought stays, and an add-on that is not there is not an error. When the
definitions have objects, remove asks first; without a terminal and --yes it deletes nothing then.

The images of its programs stay, so that 'slipway cluster add' brings it back within seconds.`,
		Example:   `  slipway cluster remove cert-manager`,
		ValidArgs: operation.AddonNames(),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{""}
			}
			return oneAddon(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Addon = args[0]
			return inv.session().RemoveFromCluster(cmd.Context(), r)
		},
	}
	flags := cmd.Flags()
	bindCluster(flags, &r.Cluster)
	flags.DurationVar(&r.Timeout, "timeout", operation.DeployTimeout, "how long to wait for the objects to be gone")
	bindConsent(flags, &r.Yes)
	return cmd
}
