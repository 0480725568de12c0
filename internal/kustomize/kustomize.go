// Package kustomize is kustomize's own command line, linked in:
//
//	err := kustomize.Run(ctx, []string{"build", "config/default"}, kustomize.Streams{In: os.Stdin, Out: os.Stdout})
//
// All its commands are there, with their flags. Only build is another one: it reads within the limits of package
// bounded, since a kustomization may be a stranger's. The commands are made when one is run, since making them
// takes longer than most of slipway's do.
package kustomize

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kustomize/v5/commands"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/bounded"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/report"
)

// Version is the version that is linked in.
const Version = "v5.8.1"

// Streams are what a command line reads and what it says besides what kustomize itself prints, which goes to the
// process's own streams.
type Streams struct {
	In  io.Reader
	Out io.Writer

	// Besides is what the command version prints below its version; empty for nothing.
	Besides string
	// Announce learns of each address before it is fetched.
	Announce func(address string)
}

// Run runs a command line of kustomize, which shows its own errors on stderr. The error is a [report.Error].
func Run(ctx context.Context, args []string, s Streams) error {
	ctx, end := bounded.Online(ctx, s.Announce)
	defer end()
	root, disk := tree()
	root.SetArgs(args)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(s.In)
	if cmd, _, err := root.Find(args); err == nil {
		disk.OwnGit = cmd.Name() != "build" // the others read from no disk of ours
	}
	cmd, err := bounded.Await(ctx, disk, func() (*cobra.Command, error) { return root.ExecuteContextC(ctx) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil && s.Besides != "" && cmd.Name() == "version" {
		_, err = fmt.Fprintln(s.Out, s.Besides)
	}
	if err == nil {
		return nil
	}
	if exceeded := disk.Exceeded(); exceeded != nil {
		return kustomization.TooMuch(exceeded)
	}
	if refused, found := kustomization.Unbuilt("", err); found && cmd.Name() == "build" {
		return refused
	}
	return &report.Error{What: err.Error(), Next: "slipway " + cmd.CommandPath() + " --help"}
}

// tree are kustomize's commands, with a build that reads within limits.
func tree() (*cobra.Command, *bounded.Disk) {
	root, disk := commands.NewDefaultCommand(), bounded.Over(filesys.MakeFsOnDisk())
	within := build.NewCmdBuild(disk, build.MakeHelp(konfig.ProgramName, "build"), os.Stdout)
	build.AddFunctionAlphaEnablementFlags(within.Flags())
	run := within.RunE
	within.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if restrictor := cmd.Flags().Lookup("load-restrictor"); restrictor != nil {
			disk.Unrestricted = restrictor.Value.String() != restrictor.DefValue
		}
		for i := range args {
			if args[i], err = disk.Target(args[i]); err != nil {
				return err
			}
		}
		return run(cmd, args)
	}
	for _, command := range root.Commands() {
		if command.Name() == within.Name() {
			root.RemoveCommand(command)
		}
	}
	root.AddCommand(within)
	return root, disk
}
