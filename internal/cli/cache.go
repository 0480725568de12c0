package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/tools"
	"github.com/slipway-dev/slipway/internal/report"
)

// cacheCommand is `slipway cache`.
func (inv *invocation) cacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "List what slipway keeps, and remove what you no longer want",
		Long: `Cache lists what slipway has made and keeps: its other programs, images, definitions, runs of generate,
each with its size, its last use and how much of it is kept. Slipway makes it again when it needs it.

Environment:
  SLIPWAY_CACHE   the folder (default: slipway in the user's cache folder)`,
		Example: `  slipway cache
  slipway cache clean --dry-run`,
		Args: noSubcommand,
		RunE: func(*cobra.Command, []string) error { return done(tools.ListCache(inv.session())) },
	}
	addCommands(cmd, inv.cacheCleanCommand())
	return cmd
}

func (inv *invocation) cacheCleanCommand() *cobra.Command {
	var c tools.CacheChoice
	cmd := &cobra.Command{
		Use:        "clean [KIND...]",
		SuggestFor: []string{"remove", "rm", "delete", "prune", "purge"},
		Short:      "Remove what slipway keeps",
		Long: `Clean removes what the cache holds of the kinds named, and of all kinds by default. Programs that run, such as
those of a running cluster, stay, and so does what another command is using.

The programs take minutes to compile again.`,
		Example: `  slipway cache clean images
  slipway cache clean --older-than 720h`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return tools.CacheKinds(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if c.Unused < 0 {
				return &report.Error{What: "a time without use is not negative", Where: "--older-than", Next: "slipway cache clean --help"}
			}
			c.Kinds = args
			return done(tools.CleanCache(inv.session(), c))
		},
	}
	cmd.Flags().BoolVar(&c.DryRun, "dry-run", false, "list what would be removed, and remove nothing")
	cmd.Flags().DurationVar(&c.Unused, "older-than", time.Duration(0), "only what was not used for this `time`, such as 720h")
	return cmd
}
