package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation/delivery"
)

// installCommand is `slipway install`.
func (inv *invocation) installCommand() *cobra.Command {
	var i delivery.Installation
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the project's CRDs into the cluster",
		Long: `Install applies the project's CRDs to the cluster of the current context and waits until the API server serves
them. They come from the folder that generate writes. If the types have changed, it generates the CRDs first.

With --dependencies install also applies the CRDs of kinds of other modules that the project's Go files use, such as
cert-manager's Certificate. They come from the Go module cache, in the version of go.mod, and install reports the
file of each. It does not change such a CRD if another tool installed it.

Install uses server-side apply, so CRDs may be of any size. A second run changes nothing. Install asks before it deletes
a CRD that the project no longer has, with its objects. Without a terminal it keeps and lists the CRD; --prune=data or
--yes deletes it. A CRD with the annotation helm.sh/resource-policy: keep always stays.

With -k install takes the CRDs of a kustomization as they are, in any folder. It checks them as generate checks those
that it makes.

--dry-run and --diff generate in memory and write no file; --no-generate takes the project's files as they are.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return done(delivery.Install(cmd.Context(), inv.session(), i))
		},
	}
	bindTarget(cmd.Flags(), &i.To, delivery.InstallTimeout, "for the definitions to be served")
	cmd.Flags().BoolVar(&i.Force, "force-conflicts", false, "take over fields that other field managers own")
	bindPrune(cmd.Flags(), &i.Yes)
	bindDefinitions(cmd.Flags(), &i.Folder)
	cmd.Flags().BoolVar(&i.Dependencies, "dependencies", false, "also install the CRDs of kinds of other modules that the project uses")
	bindNoGenerate(cmd.Flags(), &i.NoGenerate)
	bindClusterPreview(cmd.Flags(), &i.Preview)
	return cmd
}

// uninstallCommand is `slipway uninstall`.
func (inv *invocation) uninstallCommand() *cobra.Command {
	var removal delivery.Removal
	folder := ""
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the project's CRDs, and their objects, from the cluster",
		Long: `Uninstall deletes the CRDs of install from the cluster, and with them all objects of their kinds. It returns
when they are gone. An absent CRD is not an error. CRDs that another tool installed stay. Uninstall asks
before it deletes CRDs with objects other than those in config/samples. Without a terminal and without --yes it then
deletes nothing.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return done(delivery.Uninstall(cmd.Context(), inv.session(), folder, removal))
		},
	}
	bindRemoval(cmd.Flags(), &removal, delivery.InstallTimeout, "for the definitions and their objects to be gone")
	bindDefinitions(cmd.Flags(), &folder)
	cmd.Flags().BoolVar(&removal.Dependencies, "dependencies", false, "also delete the CRDs of other modules that install applied")
	return cmd
}

// bindDefinitions declares the flag that names where CRDs come from.
func bindDefinitions(flags *pflag.FlagSet, folder *string) {
	flags.StringVarP(folder, "kustomize", "k", "", "`folder` of a kustomization whose CRDs are meant; default: where the project generates them")
}
