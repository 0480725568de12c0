package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/report"
)

const clusterAddLong = `Add installs an add-on, such as cert-manager, into an embedded cluster. It returns when the add-on is ready: its kinds are
served, its programs run and its webhooks answer. Without a name it lists the add-ons, their versions, and those that
the cluster has.

Add downloads no image and no manifest. The go command downloads the add-on's Go modules through GOPROXY, and
slipway compiles their programs once. A second run changes nothing. 'slipway cluster reset' removes the add-on; add
restores it within seconds. After 'slipway cluster keep' resets keep it.

Programs need an isolated node: one joins, as for 'slipway image load'. A cluster that keeps simulated nodes only takes
add-ons that consist of definitions.

cert-manager has self-signed issuers and CA issuers with their key in a Secret. The issuers for ACME, Vault and
Venafi (CyberArk) are left out, and so are certificates for annotated Ingresses. docs/guides/add-ons.md has more.

'slipway cluster remove' removes an add-on.`

func (inv *invocation) clusterAddCommand() *cobra.Command {
	var a delivery.Addition
	cmd := &cobra.Command{
		Use:   "add [ADD-ON]",
		Short: "Install cert-manager or another add-on into a cluster",
		Long:  clusterAddLong,
		Example: `  slipway cluster add
  slipway cluster add cert-manager
  slipway cluster add prometheus-crds --cluster staging`,
		ValidArgs: delivery.AddonNames(),
		Args:      oneAddon,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return done(delivery.ListAddons(cmd.Context(), inv.session(), a.Cluster))
			}
			a.Addon = args[0]
			return done(delivery.Add(cmd.Context(), inv.session(), a))
		},
	}
	flags := cmd.Flags()
	bindCluster(flags, &a.Cluster)
	flags.BoolVar(&a.Force, "force-conflicts", false, "take over objects that another tool installed")
	flags.DurationVar(&a.Timeout, "timeout", delivery.DeployTimeout, "how long to wait for the add-on to run, once it is compiled")
	return cmd
}

// oneAddon refuses more than one argument, and an empty one.
func oneAddon(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || len(args) == 1 && args[0] != "" {
		return nil
	}
	e := &report.Error{What: cmd.CommandPath() + " takes the name of one add-on", Next: "slipway cluster add", Code: report.UsageCode}
	if len(args) > 1 {
		e.Where = args[1]
	}
	return e
}

func (inv *invocation) clusterRemoveCommand() *cobra.Command {
	var r delivery.Subtraction
	cmd := &cobra.Command{
		Use:   "remove ADD-ON",
		Short: "Remove an add-on from a cluster",
		Long: `Remove deletes an add-on from an embedded cluster: first its definitions with all objects of their kinds, then the rest.
It returns when all are gone. Objects that another tool installed stay. Removing an absent add-on is not an error. If the
definitions have objects, remove asks first. Without a terminal and without --yes it then deletes nothing.

The images of its programs stay, so that 'slipway cluster add' restores it within seconds.`,
		Example:   `  slipway cluster remove cert-manager`,
		ValidArgs: delivery.AddonNames(),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{""}
			}
			return oneAddon(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Addon = args[0]
			return done(delivery.Remove(cmd.Context(), inv.session(), r))
		},
	}
	flags := cmd.Flags()
	bindCluster(flags, &r.Cluster)
	flags.DurationVar(&r.Timeout, "timeout", delivery.DeployTimeout, "how long to wait for the objects to be gone")
	bindConsent(flags, &r.Yes)
	return cmd
}
