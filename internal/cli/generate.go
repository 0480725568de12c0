package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
)

// generateFlags are those of `slipway generate`.
type generateFlags struct {
	generation.Generation
	check, watch bool

	since string // what to compare CRDs with
}

// generateCommand is `slipway generate`.
func (inv *invocation) generateCommand() *cobra.Command {
	var flags generateFlags
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Generate DeepCopy methods, CRDs, roles and webhook configurations from the code",
		Long: `Generate reads all packages of the project once. From their types and markers it writes the same
bytes as the version of controller-gen that the project uses, from v0.14.0 to v0.23.0:

  zz_generated.deepcopy.go         DeepCopy methods, beside the types
  config/crd/bases/*.yaml          a CustomResourceDefinition for each kind
  config/rbac/role.yaml            the role "manager-role", from +kubebuilder:rbac markers
  config/webhook/manifests.yaml    webhook configurations, from +kubebuilder:webhook markers

Generated Go files begin with the text of hack/boilerplate.go.txt, if that exists. If the project's
Makefile calls controller-gen, as kubebuilder's do, generate follows that call: its generators, their
options, paths and output rules. It reports lines that it cannot follow, and obsolete options.
It writes only files that change; a second run changes nothing.

The version of controller-gen is the one that the Makefile, or another file with the call, names; else
that of the tools in go.mod; else that of an import in tools.go; else the one that the CRDs name; else
v0.23.0. Generate reports it if these contradict each other, and refuses a version before v0.14.0.
For one after v0.23.0 it warns, and writes the files of v0.23.0. --controller-gen-version sets another one.

Generate writes only below the project's folder, the one with PROJECT. It refuses an output rule or a
symbolic link that leads outside; --outside allows a folder. A file outside that is up to date needs no flag.

Generate reports all mistakes in code and markers at once, each with its place. A mistake that makes
the result wrong fails the command, and then no file changes. A misspelt or misplaced marker has no
effect. Generate reports it with the nearest known marker, or with the place where it belongs;
with --strict it fails the command. --fix first corrects what has one replacement, in the project's own files.

Generate checks new and changed CRDs as an API server does: schemas, CEL rules and their cost,
defaults, list keys, names, columns, size. A CRD that an API server would refuse is an error with the
place in the code; the files are written nevertheless. The checker is compiled once;
SLIPWAY_CHECK=off skips the check. A CRD whose kind no longer exists is reported; --prune
deletes it unless a kustomization lists it.

With --compare generate writes nothing. It reports how the CRDs differ from those of a git revision,
a folder or a file; breaking changes fail the command.

With -v it reports how many files were parsed, how many packages were type-checked and how long
it took.`,
		Example: `  slipway generate
  slipway generate --watch               # on each save, until Ctrl-C
  slipway generate --check --strict      # in CI: fails with a diff when something is stale
  slipway generate --compare main        # in CI: fails for changes that break users
  slipway generate --output json`,
		Args: noArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			return errors.Join(flags.usable(cmd), flags.resolve(inv.Dir))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), inv.session()) },
	}
	flags.declare(cmd.Flags())
	addCommands(cmd, inv.generateClientsCommand())
	return inv.renamed(cmd, "diff", "compare")
}

// declare declares the flags.
func (flags *generateFlags) declare(set *pflag.FlagSet) {
	set.BoolVar(&flags.check, "check", false, "write nothing; fail with a diff if a generated file is out of date")
	set.BoolVarP(&flags.watch, "watch", "w", false, "generate again after each change to a file, until interrupted")
	set.BoolVar(&flags.Strict, "strict", false, "fail for misspelt and misplaced markers, for code that does nothing, and for warnings about CRDs")
	set.BoolVar(&flags.Fix, "fix", false, "first correct the files of the project where a finding has a replacement, such as a misspelt marker")
	set.BoolVar(&flags.Prune, "prune", false, "delete generated CRDs whose kind no longer exists, unless a kustomization lists them")
	set.StringVar(&flags.since, "compare", "", "write nothing; compare the CRDs with those of a git `revision`, or in a folder or file")
	set.StringVar(&flags.ControllerGen, "controller-gen-version", "", "write the files of this `version` of controller-gen, instead of the project's")
	set.StringArrayVar(&flags.Outside, "outside", nil, "`folder` outside the project that output rules and links may write to; repeatable")
}

// run generates, or does what the flags ask for in its place.
func (flags *generateFlags) run(ctx context.Context, session *operation.Session) error {
	switch {
	case flags.since != "":
		return done(generation.CompareDefinitions(ctx, session, flags.since, flags.Generation))
	case flags.check:
		return done(generation.Check(ctx, session, flags.Generation))
	case flags.watch:
		return generation.Watch(ctx, session, flags.Generation)
	}
	return done(generation.Generate(ctx, session, flags.Generation))
}

// usable refuses flags that contradict each other, and a comparison with nothing.
func (flags *generateFlags) usable(cmd *cobra.Command) error {
	if err := errors.Join(apart(cmd, "check", "watch", "compare", "fix"), apart(cmd, "check", "prune", "compare")); err != nil {
		return err
	}
	if cmd.Flags().Changed("compare") && flags.since == "" {
		return &report.Error{What: "--compare needs a revision, a folder or a file", Where: `--compare ""`,
			Hint: "use a git revision, like main or v1.2.0; or the path of a folder or file with CRDs", Next: cmd.CommandPath() + " --compare main", Code: report.UsageCode}
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
			return &report.Error{What: "--outside names no folder", Where: folder, Hint: "name a folder that exists, as an absolute path or relative to this one", Next: "mkdir -p " + folder, Code: report.UsageCode}
		}
		flags.Outside[i] = folder
	}
	return nil
}
