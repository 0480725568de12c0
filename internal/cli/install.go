package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

// installCommand is `slipway install`.
func (inv *invocation) installCommand() *cobra.Command {
	var i operation.Installation
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Bring the project's CRDs into the cluster",
		Long: `Install brings the project's custom resource definitions (config/crd, or else config/*/crd) into the cluster of the
current context and waits until the API server serves them. They are generated first where the types
have changed.

With --dependencies install also brings the CRDs of kinds of other modules that the project's Go files use, such as
cert-manager's Certificate. They come from the Go module cache, in the version of go.mod, and each is reported with its
file. A CRD that the cluster has from elsewhere stays as it is.

They are applied on the server's side, so they may be of any size. A second run changes nothing. A CRD that left the
project is deleted, with its objects, if you say so: install asks, and keeps it without a terminal and --yes.

--dry-run and --diff generate in memory and write no file; --no-generate takes the project's files as they are.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return inv.session().Install(cmd.Context(), i)
		},
	}
	bindTarget(cmd.Flags(), &i.To, operation.InstallTimeout, "for the definitions to be served")
	cmd.Flags().BoolVar(&i.Force, "force-conflicts", false, "take over fields that others own")
	bindConsent(cmd.Flags(), &i.Yes)
	cmd.Flags().BoolVar(&i.Dependencies, "dependencies", false, "with the CRDs of kinds of other modules that the project uses")
	bindNoGenerate(cmd.Flags(), &i.NoGenerate)
	bindClusterPreview(cmd.Flags(), &i.Preview)
	return cmd
}

// uninstallCommand is `slipway uninstall`.
func (inv *invocation) uninstallCommand() *cobra.Command {
	var removal operation.Removal
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the project's CRDs, and their objects, from the cluster",
		Long: `Uninstall removes what install brought into the cluster: the project's custom resource
definitions, and with them every object of these kinds. It returns when they are gone. What is not
there is not an error. CRDs that others brought stay. For those that have objects uninstall asks first;
without a terminal and --yes nothing is deleted then.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return inv.session().Uninstall(cmd.Context(), removal)
		},
	}
	bindRemoval(cmd.Flags(), &removal, operation.InstallTimeout, "for the definitions and their objects to be gone")
	cmd.Flags().BoolVar(&removal.Dependencies, "dependencies", false, "with the CRDs of other modules that install brought")
	return cmd
}
