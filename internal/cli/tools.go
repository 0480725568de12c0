package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/tools"
	"github.com/slipway-dev/slipway/internal/report"
)

// toolsCommand is `slipway tools`.
func (inv *invocation) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Link slipway as the tools that a Makefile installs",
		Long: `Tools replaces the tools that a project's Makefile installs into its bin folder: controller-gen, kustomize,
setup-envtest and kubectl become links to slipway, and make needs no network.`,
		Example: `  slipway tools link
  make manifests generate build-installer test`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addCommands(cmd, inv.toolsLinkCommand(), inv.toolsUnlinkCommand())
	return cmd
}

func (inv *invocation) toolsLinkCommand() *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "link [DIR]",
		Short: "Link controller-gen, kustomize, setup-envtest and kubectl",
		Long: `Link writes controller-gen, kustomize, setup-envtest and kubectl into a folder, by default the project's bin, as
scripts that run slipway. It takes the versions in their names, like controller-gen-v0.20.1, from the
project's Makefile, so that make finds them there and installs nothing.

Link replaces files that slipway linked or the go command installed, and reports them. It keeps other files.
A second run changes nothing, unless slipway has moved.`,
		Example: `  slipway tools link
  slipway tools link hack/tools/bin`,
		Args: atMostOneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			return done(tools.LinkTools(inv.session(), toolFolder(args), force))
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace files that neither slipway nor the go command made, too")
	return cmd
}

func (inv *invocation) toolsUnlinkCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "unlink [DIR]",
		Short:   "Remove the links of tools link",
		Long:    `Unlink removes the links and scripts of slipway tools link from a folder, by default the project's bin.`,
		Example: `  slipway tools unlink`,
		Args:    atMostOneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			return done(tools.UnlinkTools(inv.session(), toolFolder(args)))
		},
	}
}

// atMostOneFolder refuses more than one argument.
func atMostOneFolder(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes one folder", Where: args[1], Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
}

// toolFolder is the folder that the arguments name; empty when there are none.
func toolFolder(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return cmp.Or(args[0], tools.ToolFolder)
}
