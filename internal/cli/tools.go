package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/confine"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/toollink"
)

// toolsCommand is `slipway tools`.
func (inv *invocation) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Put links to slipway where a Makefile looks for its tools",
		Long: `Tools makes the tools that the Makefile of a project installs into its bin folder unnecessary: controller-gen,
kustomize, setup-envtest and kubectl are slipway then, and make needs no network.`,
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
		Long: `Link puts controller-gen, kustomize, setup-envtest and kubectl into a folder, bin unless another one is named, as
scripts that run slipway. The versions in their names, like controller-gen-v0.20.1, are those that the
project's Makefile asks for, so that it finds them there and installs nothing.

What slipway linked before or the go command installed is replaced, and told; any other file is kept.
A second run changes nothing, unless slipway has moved.`,
		Example: `  slipway tools link
  slipway tools link hack/tools/bin`,
		Args: atMostOneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			folder, err := inv.toolFolder(args)
			if err != nil {
				return err
			}
			folder.Force = force
			versions, unknown, err := toollink.Versions(inv.Dir)
			if err != nil {
				return err
			}
			for _, variable := range unknown {
				inv.handler.Handle(report.Warning{Text: "the Makefile computes " + variable + ": its tool is linked without a version, and make may install its own"})
			}
			folder.Versions = versions
			changes, err := folder.Link()
			inv.tellLinks(changes, "linked")
			return err
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace files that neither slipway nor the go command made, too")
	return cmd
}

func (inv *invocation) toolsUnlinkCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "unlink [DIR]",
		Short:   "Remove what tools link made",
		Long:    `Unlink removes the links and scripts that slipway tools link made from a folder, bin unless another one is named.`,
		Example: `  slipway tools unlink`,
		Args:    atMostOneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			folder, err := inv.toolFolder(args)
			if err != nil {
				return err
			}
			changes, err := folder.Unlink()
			inv.tellLinks(changes, "unlinked")
			return err
		},
	}
}

// atMostOneFolder refuses more than one argument.
func atMostOneFolder(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes one folder", Where: args[1], Next: cmd.CommandPath() + " --help", Code: usageCode}
}

// toolFolder is the folder that the arguments name.
func (inv *invocation) toolFolder(args []string) (toollink.Folder, error) {
	if runtime.GOOS == "windows" {
		return toollink.Folder{}, &report.Error{What: "there are no links to tools on Windows", Hint: "copy slipway.exe to controller-gen.exe, kustomize.exe and setup-envtest.exe"}
	}
	program, err := os.Executable()
	if err != nil {
		return toollink.Folder{}, err
	}
	if err := inv.ownBin(args); err != nil {
		return toollink.Folder{}, err
	}
	path := cmp.Or(append(args, "bin")[0], "bin")
	if !filepath.IsAbs(path) {
		path = filepath.Join(inv.Dir, path)
	}
	return toollink.Folder{Path: path, Program: program}, nil
}

// ownBin refuses a bin that a repository has as a link to elsewhere, where commands would be replaced, unless it is named.
func (inv *invocation) ownBin(args []string) error {
	if len(args) > 0 {
		return nil
	}
	here, err := confine.Open(inv.Dir)
	if err != nil {
		return err
	}
	_, err = here.Resolve("bin")
	if _, out := errors.AsType[*confine.OutsideError](err); out {
		err = &report.Error{What: "the folder of tools lies outside of this one", Where: "bin", Err: err, Hint: "nothing was changed; name the folder if that is meant", Next: "slipway tools link bin"}
	}
	return errors.Join(err, here.Close())
}

// tellLinks tells what happened to each file.
func (inv *invocation) tellLinks(changes []toollink.Change, verb string) {
	changed := 0
	for i := range changes {
		c := &changes[i]
		if rel, err := filepath.Rel(inv.Dir, c.Path); err == nil && filepath.IsLocal(rel) {
			c.Path = rel
		}
		if c.Action != report.Unchanged && c.Action != report.Kept {
			changed++
		}
		if c.Action == report.Kept {
			inv.handler.Handle(report.Warning{Text: c.Path + " is kept: " + c.Why})
			continue
		}
		inv.handler.Handle(report.File{Path: c.Path, Action: c.Action, Why: c.Why})
	}
	text := fmt.Sprintf("%s: %s changed", verb, count(changed, "file"))
	if changed == 0 {
		text = "nothing changed"
	}
	inv.handler.Handle(report.Result{Text: text, Value: struct {
		Files []toollink.Change `json:"files"`
	}{changes}})
}
