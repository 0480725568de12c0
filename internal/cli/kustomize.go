package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kustomize/v5/commands"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/bounded"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// kustomizeCommand is `slipway kustomize`. It leaves every flag to kustomize, and kustomize's
// own commands are made when it is called only.
func (inv *invocation) kustomizeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kustomize ARGS…",
		Short: "Run kustomize",
		Long: `Kustomize runs kustomize ` + kustomizeVersion + `, which is linked in, with the arguments given: build, edit, create, localize
and all others, with their flags and exit codes. Called by the name kustomize, as by a link that slipway tools link
makes, the program is this command.

Build reads less than kustomize would: files of at most 32 MiB, 64 MiB in all, and YAML whose aliases add at most 4 MiB, since
a small file of aliases can take all memory. Bases that are addresses are fetched by git over networks alone; GIT_ALLOW_PROTOCOL=file,
a variable of git's, has it take those of this machine too, and run what their addresses name.`,
		Example: `  slipway kustomize build config/default
  slipway kustomize edit set image controller=example.com/operator:v1`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return inv.kustomize(cmd.Context(), args)
		},
	}
}

// kustomizeVersion is the version that is linked in.
const kustomizeVersion = "v5.8.1"

// kustomize runs a command line of kustomize, which shows its own errors on stderr.
func (inv *invocation) kustomize(ctx context.Context, args []string) error {
	root, disk := kustomizeCommands()
	root.SetArgs(args)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(inv.Stdin)
	defer bounded.Fetching()()
	cmd, err := bounded.Await(ctx, func() (*cobra.Command, error) { return root.ExecuteContextC(ctx) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if other := inv.session().InPlaceOf(kustomizeVersion); err == nil && other != "" && cmd.Name() == "version" {
		_, err = fmt.Fprintln(inv.Stdout, strings.TrimSpace(other))
	}
	if err == nil {
		return nil
	}
	if exceeded := disk.Exceeded(); exceeded != nil {
		return ship.TooMuch(exceeded)
	}
	return &report.Error{What: err.Error(), Next: "slipway " + cmd.CommandPath() + " --help"}
}

// kustomizeCommands are kustomize's own, with a build that reads within limits.
func kustomizeCommands() (*cobra.Command, *bounded.Disk) {
	root, disk := commands.NewDefaultCommand(), bounded.Over(filesys.MakeFsOnDisk())
	within := build.NewCmdBuild(disk, build.MakeHelp(konfig.ProgramName, "build"), os.Stdout)
	build.AddFunctionAlphaEnablementFlags(within.Flags())
	for _, command := range root.Commands() {
		if command.Name() == within.Name() {
			root.RemoveCommand(command)
		}
	}
	root.AddCommand(within)
	return root, disk
}
