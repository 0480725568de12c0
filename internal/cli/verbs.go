package cli

import "github.com/spf13/cobra"

// A verb is a command below slipway itself.
type verb struct {
	name    string
	command func() *cobra.Command
}

// verbs lists every command.
func (inv *invocation) verbs() []verb {
	return []verb{
		{"init", inv.initCommand},
		{"create", inv.createCommand},
		{"delete", inv.deleteCommand},
		{"edit", inv.editCommand},
		{"generate", inv.generateCommand},
		{"type", inv.typeCommand},
		{"cluster", inv.clusterCommand},
		{"install", inv.installCommand},
		{"uninstall", inv.uninstallCommand},
		{"dev", inv.devCommand},
		{"run", inv.runCommand},
		{"migrate", inv.migrateCommand},
		{"upgrade", inv.upgradeCommand},
		{"prove", inv.proveCommand},
		{"deploy", inv.deployCommand},
		{"undeploy", inv.undeployCommand},
		{"status", inv.statusCommand},
		{"explain", inv.explainCommand},
		{"test", inv.testCommand},
		{"controller-gen", inv.controllerGenCommand},
		{"setup-envtest", inv.setupEnvtestCommand},
		{"image", inv.imageCommand},
		{"kubectl", inv.kubectlCommand},
		{"kustomize", inv.kustomizeCommand},
		{"helm", inv.helmCommand},
		{"tools", inv.toolsCommand},
		{"cache", inv.cacheCommand},
		{"version", inv.versionCommand},
		{"mcp", inv.mcpCommand},
		{"completion", inv.completionCommand},
	}
}

// needed makes the commands that arguments may lead to: the one that they begin with, or all of them, for help and for
// what is misspelt. The flags of all others would be the most that a start does once the program's packages are ready.
func needed(verbs []verb, args []string) []*cobra.Command {
	var all []*cobra.Command
	for _, v := range verbs {
		if len(args) > 0 && args[0] == v.name {
			return []*cobra.Command{v.command()}
		}
	}
	for _, v := range verbs {
		all = append(all, v.command())
	}
	return all
}
