package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/project"
)

// globalFlags are those that kubebuilder has on each of its commands, so that scripts also give them before the verb.
var globalFlags = []string{"plugins", projectVersion}

const projectVersion = "project-version"

// bindGlobal has flags of verbs accepted before the verb.
func bindGlobal(root *cobra.Command) {
	root.Flags().StringSlice("plugins", nil, "")
	root.Flags().String(projectVersion, "", "")
	for _, name := range globalFlags {
		root.Flags().Lookup(name).Hidden = true
	}
}

// passGlobal gives a verb those of its flags that stand before it. Others stay, and are refused as stray.
func passGlobal(cmd *cobra.Command) error {
	for _, name := range globalFlags {
		given, own := cmd.Root().Flags().Lookup(name), cmd.Flags().Lookup(name)
		if !given.Changed || own == nil || own == given {
			continue
		}
		given.Changed = false
		if own.Changed && name == projectVersion {
			continue // what stands behind the verb comes last
		}
		for _, value := range valuesOf(given) {
			if err := cmd.Flags().Set(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func valuesOf(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// acceptProjectVersion adds --project-version to a verb, as scripts for other tools give it, unless it has a use for
// it.
func (inv *invocation) acceptProjectVersion(cmd *cobra.Command) {
	if cmd.Flags().Lookup(projectVersion) != nil {
		return
	}
	version := cmd.Flags().String(projectVersion, project.Version, "accepted for scripts: `version` of the PROJECT file")
	cmd.Flags().Lookup(projectVersion).Hidden = true
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := inv.acceptVersion(*version); err != nil {
			return err
		}
		return run(cmd, args)
	}
}
