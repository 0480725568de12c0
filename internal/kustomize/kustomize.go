// Package kustomize is kustomize's own command line, linked in:
//
//	err := kustomize.Run(ctx, []string{"build", "config/default"}, kustomize.Surroundings{In: os.Stdin, Out: os.Stdout, Project: root})
//
// All its commands are there, with their flags. A kustomization may be a stranger's, so build reads within the limits
// of package kustomizefs, and no command writes through a link that leads out of the project. The commands are made
// when one is run, since making them takes longer than most of slipway's do.
package kustomize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/kustomize/v5/commands"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/create"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/edit"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/localize"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/kustomizefs"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// Version is the version that is linked in.
const Version = "v5.8.1"

// Surroundings are what a command line reads, what it says besides what kustomize itself prints, which goes to the
// process's own streams, and the folder out of which it follows no link when it writes.
type Surroundings struct {
	In      io.Reader
	Out     io.Writer
	Project string

	// Besides is what the command version prints below its version; empty for nothing.
	Besides string
	// Announce learns of each address before it is fetched.
	Announce func(address string)
}

// Run runs a command line of kustomize, which shows its own errors on stderr. The error is a [report.Error].
func Run(ctx context.Context, args []string, s Surroundings) error {
	ctx, end := kustomizefs.Online(ctx, s.Announce)
	defer end()
	folder, err := safefs.OpenFolder(s.Project)
	if err != nil {
		return &report.Error{What: "the folder cannot be opened", Where: s.Project, Err: err}
	}
	defer func() { _ = folder.Close() }() // nothing was written through the folder's own handle
	writing := &confined{FileSystem: filesys.MakeFsOnDisk(), folder: folder}
	root, disk := tree(writing)
	root.SetArgs(args)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(s.In)
	if cmd, _, err := root.Find(args); err == nil {
		disk.OwnGit = cmd.Name() != "build" // localize fetches itself
	}
	cmd, err := kustomizefs.Await(ctx, disk, func() (*cobra.Command, error) { return root.ExecuteContextC(ctx) })
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
	if out, ok := errors.AsType[*safefs.OutsideError](writing.refused); ok {
		return outside(out)
	}
	if refused, found := kustomization.Unbuilt("", err); found && cmd.Name() == "build" {
		return refused
	}
	return &report.Error{What: err.Error(), Next: "slipway " + cmd.CommandPath() + " --help"}
}

// outside is the refusal of a link that leads out of the project.
func outside(out *safefs.OutsideError) error {
	return &report.Error{Class: report.BadProject, What: "kustomize would write outside the project", Where: filepath.Join(out.Folder, filepath.FromSlash(out.Path)), Err: out,
		Hint: "nothing was written there; replace the link by what it leads to, or run kustomize in that folder",
		Next: "ls -l " + shellword.Quote(filepath.Join(out.Folder, filepath.FromSlash(out.Link)))}
}

// tree are kustomize's commands. Those that write do so on a disk of ours; build and localize,
// which read what a kustomization names, do so within limits.
func tree(writing *confined) (*cobra.Command, *kustomizefs.Disk) {
	root, disk, parts := commands.NewDefaultCommand(), kustomizefs.Over(writing), provider.NewDefaultDepProvider()
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
	for _, ours := range []*cobra.Command{
		within,
		create.NewCmdCreate(writing, parts.GetResourceFactory()),
		edit.NewCmdEdit(writing, parts.GetFieldValidator(), parts.GetResourceFactory(), os.Stdout),
		localize.NewCmdLocalize(disk),
	} {
		for _, command := range root.Commands() {
			if command.Name() == ours.Name() {
				root.RemoveCommand(command)
			}
		}
		root.AddCommand(ours)
	}
	for _, command := range root.Commands() {
		if command.Name() == "fn" { // which writes by itself what it is named
			writing.guard(command)
		}
	}
	return root, disk
}
