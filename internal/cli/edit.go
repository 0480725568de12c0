package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/projects"
)

func (inv *invocation) editCommand() *cobra.Command {
	var e projects.Edit
	var multigroup, namespaced bool
	var license projects.License
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Change the shape of the project: its layout, scope, license and features",
		Long: `Edit changes the choices of 'slipway init'. It makes all changes or none. If one is impossible, it
reports the file, the line and the text to insert by hand. A second run changes nothing.`,
		Example: `  slipway edit --enable prometheus,network-policy
  slipway edit --multigroup
  slipway edit --namespaced
  slipway edit --license apache2 --owner "Example Ltd."`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := cmd.Flags().Changed
			if given("multigroup") {
				e.MultiGroup = &multigroup
			}
			if given("namespaced") {
				e.Namespaced = &namespaced
			}
			if given("license") || given("license-file") || given("owner") {
				e.License = &license
			}
			return unchecked(cmd, done(projects.EditProject(cmd.Context(), inv.session(), e)))
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&multigroup, "multigroup", false, "use the layout for several API groups: move APIs, controllers and webhooks, and rewrite references to them")
	flags.BoolVar(&e.NoMove, "no-move", false, "with --multigroup: change only PROJECT, as kubebuilder's edit does; packages stay, and later kinds get the places of the layout")
	flags.BoolVar(&namespaced, "namespaced", false, "let the manager watch only its own namespace, with permissions only there")
	flags.StringSliceVar(&e.Enable, "enable", nil, "`features` to add: "+projects.FeatureNames())
	flags.StringSliceVar(&e.Disable, "disable", nil, "`features` to switch off: their lines and code go, their folders in config stay")
	flags.StringVar(&e.Certs, "certs", "", "certificate `provider` of webhooks and metrics: self, the operator, or cert-manager")
	flags.StringVar(&license.Name, "license", "apache2", "license header of new Go files: `apache2` or none")
	flags.StringVar(&license.File, "license-file", "", "`file` with a license header to use instead")
	flags.StringVar(&license.Owner, "owner", "", "`holder` of the copyright, for the license header")
	bindManager(flags, &e.Manager)
	bindForce(flags)
	bindNoTypecheck(flags, &e.NoTypecheck)
	bindPreview(flags, &e.Preview)
	return inv.acceptPlugins(cmd, true)
}
