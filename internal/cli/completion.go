package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/report"
)

// shells are those that completions can be written for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (inv *invocation) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes slipway's commands in a shell",
		Long: `Completion prints a script for bash, zsh, fish or powershell that lets the shell complete
slipway's commands and flags.`,
		Example: `  source <(slipway completion bash)
  slipway completion fish > ~/.config/fish/completions/slipway.fish`,
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), inv.Stdout
			if len(args) == 1 {
				switch args[0] {
				case "bash":
					return root.GenBashCompletionV2(out, true)
				case "zsh":
					return root.GenZshCompletion(out)
				case "fish":
					return root.GenFishCompletion(out, true)
				case "powershell":
					return root.GenPowerShellCompletionWithDesc(out)
				}
			}
			return &report.Error{What: "completion takes one shell", Hint: "name bash, zsh, fish or powershell", Next: "slipway completion bash", Code: report.UsageCode}
		},
	}
}
