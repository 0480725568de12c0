package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// generateFlags are those of `slipway generate`.
type generateFlags struct {
	operation.Generation
	check, watch bool

	since string // what to compare CRDs with
}

// generateCommand is `slipway generate`.
func (inv *invocation) generateCommand() *cobra.Command {
	var flags generateFlags
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Make what follows from the code: DeepCopy methods, CRDs, roles, webhook configurations",
		Long: `Generate reads all packages of the project once and writes what follows from their types and
markers, with the bytes that controller-gen v0.23.0 writes:

  zz_generated.deepcopy.go         DeepCopy methods, beside the types
  config/crd/bases/*.yaml          a CustomResourceDefinition for each kind
  config/rbac/role.yaml            the role "manager-role", from +kubebuilder:rbac markers
  config/webhook/manifests.yaml    webhook configurations, from +kubebuilder:webhook markers

Generated Go files begin with the text of hack/boilerplate.go.txt, if there is one. When
the project's Makefile calls controller-gen, as kubebuilder's do, its arguments are honoured
instead: generators, their options, paths and output rules. What cannot be followed there is
told, and so is an option that is obsolete. Only files that change are written; a second run
changes nothing.

Files are written below the project's folder, the one with PROJECT, and nowhere else: an output rule or a symbolic link
that leads out of it is refused. --outside allows a folder. A file out there that is up to date needs no flag.

A mistake in the code or in a marker is told with its place, and all of them are told at
once. One that makes the result wrong fails the command, and then no file is changed. A
marker that is misspelt, or stands where nobody reads it, has no effect: it is told with the
nearest right one, or with the place where it belongs, and with --strict it fails the command.

CRDs that are new or changed are checked as an API server checks them: schemas, CEL rules and
their cost, defaults, list keys, names, columns, size. What it would refuse is an error with the
place in the code; the files are written nevertheless, as the code says. The checker is
compiled the first time; SLIPWAY_CHECK=off does without. A CRD whose kind is gone stays and is
told; --prune deletes it.

With --compare it writes nothing and reports how the CRDs differ from those of a git revision, or
in a folder or file; breaking changes fail the command.

With -v it tells how many files were parsed, how many packages had to be type-checked
because syntax alone did not tell enough, and how long it took.`,
		Example: `  slipway generate
  slipway generate --watch               # on each save, until Ctrl-C
  slipway generate --check --strict      # in CI: fails with a diff when something is stale
  slipway generate --compare main        # in CI: fails for changes that break users
  slipway generate --output json`,
		Args: noArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			return errors.Join(flags.usable(cmd), flags.resolve(inv.Dir))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			session := inv.session()
			switch {
			case cmd.Flags().Changed("compare"):
				return session.CompareDefinitions(cmd.Context(), flags.since, flags.Generation)
			case flags.check:
				return session.CheckGenerated(cmd.Context(), flags.Generation)
			case flags.watch:
				return session.WatchAndGenerate(cmd.Context(), flags.Generation)
			}
			return session.Generate(cmd.Context(), flags.Generation)
		},
	}
	cmd.Flags().BoolVar(&flags.check, "check", false, "write nothing; fail with a diff when a generated file is not what the code says")
	cmd.Flags().BoolVarP(&flags.watch, "watch", "w", false, "generate again whenever a file changes, until interrupted")
	cmd.Flags().BoolVar(&flags.Strict, "strict", false, "fail for misspelt and misplaced markers, and for what CRDs are warned of")
	cmd.Flags().BoolVar(&flags.Prune, "prune", false, "delete generated CRDs whose kind is gone")
	cmd.Flags().StringVar(&flags.since, "compare", "", "write nothing; compare the CRDs with those of a git `revision`, or in a folder or file")
	cmd.Flags().StringArrayVar(&flags.Outside, "outside", nil, "`folder` outside of the project that its links and its Makefile's output rules may lead to; may be repeated")
	addCommands(cmd, inv.generateClientsCommand())
	return inv.renamed(cmd, "diff", "compare")
}

// usable refuses flags that contradict each other, and a comparison with nothing.
func (flags *generateFlags) usable(cmd *cobra.Command) error {
	if err := errors.Join(apart(cmd, "check", "watch", "compare"), apart(cmd, "check", "prune", "compare")); err != nil {
		return err
	}
	if cmd.Flags().Changed("compare") && flags.since == "" {
		return &report.Error{What: "--compare names nothing to compare with", Where: `--compare ""`,
			Hint: "a revision of git, like main or v1.2.0; or the path of a folder or file with CRDs", Next: cmd.CommandPath() + " --compare main", Code: usageCode}
	}
	return nil
}

// resolve makes the folders of --outside absolute, and refuses those that are none.
func (flags *generateFlags) resolve(dir string) error {
	for i, folder := range flags.Outside {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return &report.Error{What: "--outside names no folder", Where: folder, Hint: "a folder that exists, as an absolute path or relative to this one", Next: "mkdir -p " + folder, Code: usageCode}
		}
		flags.Outside[i] = folder
	}
	return nil
}
