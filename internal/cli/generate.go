package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// generateFlags are those of `slipway generate`.
type generateFlags struct {
	check, watch, strict, prune bool

	since string // what to compare CRDs with

	outside []string // folders beside the project's that may be written below
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

With --diff it writes nothing and tells how the CRDs differ from those of a git revision, or
in a folder or file; breaking changes fail the command.

With -v it tells how many files were parsed, how many packages had to be type-checked
because syntax alone did not tell enough, and how long it took.`,
		Example: `  slipway generate
  slipway generate --watch               # on each save, until Ctrl-C
  slipway generate --check --strict      # in CI: fails with a diff when something is stale
  slipway generate --diff main           # in CI: fails for changes that break users
  slipway generate --output json`,
		Args: noArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			return errors.Join(flags.usable(cmd), flags.resolve(inv.Dir))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := inv.projectRoot()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("diff") {
				return inv.diff(cmd.Context(), root, flags)
			}
			return inv.runGenerate(cmd.Context(), root, flags)
		},
	}
	cmd.Flags().BoolVar(&flags.check, "check", false, "write nothing; fail with a diff when a generated file is not what the code says")
	cmd.Flags().BoolVarP(&flags.watch, "watch", "w", false, "generate again whenever a file changes, until interrupted")
	cmd.Flags().BoolVar(&flags.strict, "strict", false, "fail for misspelt and misplaced markers, and for what CRDs are warned of")
	cmd.Flags().BoolVar(&flags.prune, "prune", false, "delete generated CRDs whose kind is gone")
	cmd.Flags().StringVar(&flags.since, "diff", "", "write nothing; compare the CRDs with those of a git `revision`, or in a folder or file")
	cmd.Flags().StringArrayVar(&flags.outside, "outside", nil, "`folder` outside of the project that its links and its Makefile's output rules may lead to; may be repeated")
	addCommands(cmd, inv.generateClientsCommand())
	return cmd
}

// usable refuses flags that contradict each other, and a comparison with nothing.
func (flags *generateFlags) usable(cmd *cobra.Command) error {
	if err := errors.Join(apart(cmd, "check", "watch", "diff"), apart(cmd, "check", "prune", "diff")); err != nil {
		return err
	}
	if cmd.Flags().Changed("diff") && flags.since == "" {
		return &report.Error{What: "--diff names nothing to compare with", Where: `--diff ""`,
			Hint: "a revision of git, like main or v1.2.0; or the path of a folder or file with CRDs", Next: cmd.CommandPath() + " --diff main", Code: usageCode}
	}
	return nil
}

// resolve makes the folders of --outside absolute, and refuses those that are none.
func (flags *generateFlags) resolve(dir string) error {
	for i, folder := range flags.outside {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return &report.Error{What: "--outside names no folder", Where: folder, Hint: "a folder that exists, as an absolute path or relative to this one", Next: "mkdir -p " + folder, Code: usageCode}
		}
		flags.outside[i] = folder
	}
	return nil
}

// runGenerate does what the flags say.
func (inv *invocation) runGenerate(ctx context.Context, root string, flags generateFlags) error {
	switch {
	case flags.check:
		return inv.checkGenerated(ctx, root, flags)
	case flags.watch:
		return inv.watchAndGenerate(ctx, root, flags)
	}
	return inv.generateOnce(ctx, root, flags)
}

// generateOnce generates and tells what it did.
func (inv *invocation) generateOnce(ctx context.Context, root string, flags generateFlags) error {
	begin := time.Now()
	result, err := inv.generateAlone(ctx, root, flags)
	if err != nil {
		return err
	}
	if err := inv.checkDefinitions(ctx, root, result, flags.strict); err != nil {
		return err
	}
	inv.handler.Handle(generated(result, time.Since(begin)))
	return nil
}

// generateAlone generates while no other command changes the project.
func (inv *invocation) generateAlone(ctx context.Context, root string, flags generateFlags) (generate.Result, error) {
	release, err := inv.hold(ctx, root)
	if err != nil {
		return generate.Result{}, err
	}
	defer release()
	return inv.generateWith(ctx, root, flags)
}

// generate brings the generated files of the project in root up to date and
// tells what changed. Findings that make the result wrong are an error.
func (inv *invocation) generate(ctx context.Context, root string) (generate.Result, error) {
	return inv.generateWith(ctx, root, generateFlags{})
}

func (inv *invocation) generateWith(ctx context.Context, root string, flags generateFlags) (generate.Result, error) {
	plan, result, err := inv.plannedRun(ctx, root, generate.Options{Strict: flags.strict, Cache: inv.runsFolder(), Within: flags.outside})
	if err != nil {
		return result, err
	}
	inv.tellRun(root, result)
	return result, inv.tellLeftovers(root, plan, result, flags)
}

// runGenerators runs these generators in the project, and tells what they found and what changed.
func (inv *invocation) runGenerators(ctx context.Context, root string, uses []generate.Use) (generate.Result, error) {
	result, err := inv.runPlan(ctx, root, regenerate.PlanOf(root, uses...), generate.Options{Cache: inv.runsFolder()})
	if err == nil {
		inv.tellRun(root, result)
	}
	return result, err
}

// plannedRun runs the project's plan and tells all findings.
func (inv *invocation) plannedRun(ctx context.Context, root string, options generate.Options) (regenerate.Plan, generate.Result, error) {
	file, err := scaffold.ReadProject(root)
	if err != nil {
		return regenerate.Plan{}, generate.Result{}, err
	}
	clients, err := clientsUse(file, root)
	if err != nil {
		return regenerate.Plan{}, generate.Result{}, err
	}
	plan, findings, err := regenerate.PlanFor(root, inv.Getenv, clients...)
	if err != nil {
		return plan, generate.Result{}, err
	}
	inv.tellFindings(root, findings)
	result, err := inv.runPlan(ctx, root, plan, options)
	return plan, result, err
}

// runPlan runs a plan and tells what it found in the code. Findings that make the
// result wrong are an error.
func (inv *invocation) runPlan(ctx context.Context, root string, plan regenerate.Plan, options generate.Options) (generate.Result, error) {
	options.Codegen = codegen.NewFinder(inv.Getenv, inv.handler)
	if inv.verbose {
		options.Events = inv.handler
	}
	defer inv.Collector.Patiently()()
	result, err := plan.Run(ctx, options)
	inv.tellFindings(root, result.Findings)
	if err == nil && result.Failed() {
		err = mistakes(result.Findings)
	}
	return result, err
}

// tellRun tells what became of each file and, to those who want to know, how much was read for that.
func (inv *invocation) tellRun(root string, result generate.Result) {
	inv.tellFiles(root, result.Files)
	if inv.verbose && !result.Recalled {
		inv.handler.Handle(report.Note{Text: fmt.Sprintf("parsed %s, type-checked %s", count(result.Parsed, "file"), count(result.Checked, "package"))})
	}
}

func (inv *invocation) tellFindings(root string, findings []report.Finding) {
	for _, f := range findings {
		f.File = inv.fromHere(root, f.File)
		inv.handler.Handle(f)
	}
}

// runsFolder is the folder of the user's cache that remembers what generators have
// read and written; "" when there is no place for it.
func (inv *invocation) runsFolder() string {
	dir := inv.Getenv("SLIPWAY_CACHE")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(cache, "slipway")
	}
	if crdcheck.Off(inv.Getenv) {
		return filepath.Join(dir, "runs-unchecked")
	}
	return filepath.Join(dir, "runs")
}

// fromHere turns a path that is relative to the project into one that leads to
// the file from the working folder, as the go command shows paths.
func (inv *invocation) fromHere(root, path string) string {
	if filepath.IsAbs(path) || path == "" {
		return path
	}
	rel, err := filepath.Rel(inv.Dir, filepath.Join(root, path))
	if err != nil {
		return filepath.Join(root, path)
	}
	return rel
}

// mistakes is the error after fatal findings, which were told already.
func mistakes(findings []report.Finding) error {
	fatal := 0
	for _, f := range findings {
		if f.Fatal {
			fatal++
		}
	}
	return &report.Error{What: "nothing was generated: " + count(fatal, "mistake") + " in the code, told above", Next: "slipway generate"}
}

func (inv *invocation) tellFiles(root string, files []generate.File) {
	for _, f := range files {
		inv.handler.Handle(report.File{Path: regenerate.Relative(root, f.Path), Action: f.Action})
	}
}
