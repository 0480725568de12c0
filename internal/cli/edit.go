package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// An editOption is a flag of `slipway edit`, or several that belong together: it adds them to the
// command's flags and returns what they ask for once they are read, which is nothing when
// they are not given. Each has a file of its own, edit_<option>.go.
type editOption func(flags *pflag.FlagSet) func() ([]scaffold.Edit, error)

// editOptions lists them in the order of help.
func (inv *invocation) editOptions() []editOption {
	return []editOption{
		inv.editMultiGroup,
		inv.editNamespaced,
		inv.editFeatures,
		inv.editLicense,
	}
}

func (inv *invocation) editCommand() *cobra.Command {
	var asked []func() ([]scaffold.Edit, error)
	var f changeFlags
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Change the shape of the project: its layout, scope, license and features",
		Long: `Edit changes what was chosen when the project was made. It plans every change first: either all of
them are made or, when one cannot be, none is, and the file, the line and the text to insert by
hand are told. Called again it changes nothing.`,
		Example: `  slipway edit --enable prometheus,network-policy
  slipway edit --multigroup
  slipway edit --namespaced
  slipway edit --license apache2 --owner "Example Ltd."`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.edit(cmd, asked, f) },
	}
	for _, option := range inv.editOptions() {
		asked = append(asked, option(cmd.Flags()))
	}
	cmd.Flags().Bool("force", false, "accepted for scripts; nothing needs it, and what exists is kept")
	f.bind(cmd.Flags())
	return cmd
}

// edit is the run of `slipway edit`.
func (inv *invocation) edit(cmd *cobra.Command, asked []func() ([]scaffold.Edit, error), f changeFlags) error {
	root, err := inv.projectRoot()
	if err != nil {
		return err
	}
	var edits []scaffold.Edit
	for _, ask := range asked {
		more, err := ask()
		if err != nil {
			return err
		}
		edits = append(edits, more...)
	}
	if len(edits) == 0 {
		return &report.Error{What: "there is nothing to edit", Where: cmd.CommandPath(), Hint: "a flag says what to change", Next: cmd.CommandPath() + " --help", Code: usageCode}
	}
	then := nothing
	switch on, _ := cmd.Flags().GetStringSlice("enable"); {
	case slices.Contains(on, string(scaffold.Policies)):
		then = func() error { return inv.generateOnly(cmd.Context(), root) }
	case cmd.Flags().Changed("multigroup"):
		then = func() error { return inv.regenerateMoved(cmd.Context(), root) }
	}
	return inv.change(cmd.Context(), root, f, func() (*scaffold.Plan, error) { return scaffold.EditProject(root, edits...) }, then)
}
