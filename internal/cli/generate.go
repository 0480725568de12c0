package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/generate"
	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/report"
)

// generateCommand is `slipway generate`.
func (inv *invocation) generateCommand() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Make what follows from the code: DeepCopy methods, CRDs, the manager's role",
		Long: `Generate reads all packages of the project once and writes what follows from their types and
markers, with the bytes that controller-gen v0.23.0 writes:

  zz_generated.deepcopy.go      DeepCopy methods, beside the types
  config/crd/bases/*.yaml       a CustomResourceDefinition for each kind
  config/rbac/role.yaml         the role "` + managerRole + `", from +kubebuilder:rbac markers
  config/webhook/manifests.yaml the configurations of admission webhooks, from +kubebuilder:webhook markers

Generated Go files begin with the text of ` + boilerplate + `, if there is one. Only
files that change are written; a second run changes nothing.

A mistake in the code or in a marker is told with its place, and all of them are told at
once. One that makes the result wrong fails the command, and then no file is changed.

CRDs that are new or changed are checked as an API server checks them: schemas, CEL rules and
their cost, defaults, list keys, names, columns, size. What it would refuse is an error with the
place in the code; the files are written nevertheless, as the code says. The checker is
compiled the first time; SLIPWAY_CHECK=off does without.

With --diff it writes nothing and tells how the CRDs differ from those of a git revision, or
in a folder or file; breaking changes fail the command.

With -v it tells how many files were parsed, how many packages had to be type-checked
because syntax alone did not tell enough, and how long it took.`,
		Example: `  slipway generate
  slipway generate -v
  slipway generate --output json
  slipway generate --diff main`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := inv.projectRoot()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("diff") {
				return inv.diff(cmd.Context(), root, since)
			}
			begin := time.Now()
			result, err := inv.generate(cmd.Context(), root)
			if err != nil {
				return err
			}
			if err := inv.checkDefinitions(cmd.Context(), root, result); err != nil {
				return err
			}
			inv.handler.Handle(generated(result, time.Since(begin)))
			return nil
		},
	}
	cmd.Flags().StringVar(&since, "diff", "", "write nothing; compare the CRDs with those of a git `revision`, or in a folder or file")
	cmd.AddCommand(inv.generateClientsCommand())
	return cmd
}

const (
	crdBases    = "config/crd/bases"
	boilerplate = "hack/boilerplate.go.txt"
	managerRole = "manager-role"
)

// generate brings the generated files of the project in root up to date and
// tells what changed. Findings that make the result wrong are an error.
func (inv *invocation) generate(ctx context.Context, root string) (generate.Result, error) {
	uses, err := projectUses(root)
	if err != nil {
		return generate.Result{}, err
	}
	return inv.runGenerators(ctx, root, uses)
}

// runGenerators runs generators in the project, and tells what they found and what changed.
func (inv *invocation) runGenerators(ctx context.Context, root string, uses []generate.Use) (generate.Result, error) {
	options := generate.Options{
		Dir: root, Uses: uses, Version: generatorVersion(readVersion().Version), Cache: inv.runsFolder(),
		Codegen: codegen.NewFinder(inv.Getenv, inv.handler),
	}
	if inv.verbose {
		options.Events = inv.handler
	}
	defer debug.SetGCPercent(debug.SetGCPercent(patience))
	result, err := generate.Run(ctx, options)
	for _, f := range result.Findings {
		f.File = inv.fromHere(root, f.File)
		inv.handler.Handle(f)
	}
	if err != nil {
		return result, err
	}
	if result.Failed() {
		return result, mistakes(result.Findings)
	}
	inv.tellFiles(root, result.Files)
	if inv.verbose && !result.Recalled {
		inv.handler.Handle(report.Note{Text: fmt.Sprintf("parsed %s, type-checked %s", count(result.Parsed, "file"), count(result.Checked, "package"))})
	}
	return result, nil
}

// patience is how much garbage, in percent of what is in use, may pile up while
// generators run: they end before much of it is worth collecting.
const patience = 400

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

// projectUses are the generators that a project needs. Their output goes where
// its kustomizations look for it.
func projectUses(root string) ([]generate.Use, error) {
	object := generate.Use{Name: "object"}
	switch _, err := os.Stat(filepath.Join(root, filepath.FromSlash(boilerplate))); {
	case err == nil:
		object.Options = "headerFile=" + boilerplate
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &report.Error{What: "the header of generated files cannot be read", Where: boilerplate, Err: err}
	}
	clients, err := clientsUse(root)
	if err != nil {
		return nil, err
	}
	return append([]generate.Use{
		object,
		{Name: "crd", Output: generate.Output{Config: crdBases}},
		{Name: "rbac", Options: "roleName=" + managerRole, Output: generate.Output{Config: "config/rbac"}},
		{Name: "webhook", Output: generate.Output{Config: "config/webhook"}},
		{Name: "applyconfiguration", Options: object.Options},
	}, clients...), nil
}

// generatorVersion is what CRDs say about the program that wrote them. Builds
// between releases all say the same, so that their commits do not show in
// generated files.
func generatorVersion(version string) string {
	if !semver.IsValid(version) || semver.Prerelease(version)+semver.Build(version) != "" {
		return "slipway"
	}
	return "slipway-" + version
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
		path := f.Path
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			path = filepath.ToSlash(rel)
		}
		inv.handler.Handle(report.File{Path: path, Action: f.Action})
	}
}

// generateSummary is the JSON form of what `slipway generate` did.
type generateSummary struct {
	Created   int           `json:"created"`
	Updated   int           `json:"updated"`
	Unchanged int           `json:"unchanged"`
	Parsed    int           `json:"parsedFiles"`
	Checked   int           `json:"typeCheckedPackages"`
	Elapsed   time.Duration `json:"elapsedNanoseconds"`
}

func generated(result generate.Result, elapsed time.Duration) report.Result {
	s := generateSummary{Parsed: result.Parsed, Checked: result.Checked, Elapsed: elapsed}
	for _, f := range result.Files {
		switch f.Action {
		case report.Created:
			s.Created++
		case report.Updated:
			s.Updated++
		default:
			s.Unchanged++
		}
	}
	return report.Result{Text: s.String(), Value: s}
}

// String is the line that ends the command.
func (s generateSummary) String() string {
	took := " (" + s.Elapsed.Round(time.Millisecond).String() + ")"
	switch total := s.Created + s.Updated + s.Unchanged; {
	case total == 0:
		return "nothing to generate: no kinds, no RBAC and no webhook markers" + took
	case s.Unchanged == total:
		return "nothing changed: " + count(total, "generated file") + " up to date" + took
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{s.Created, "created"}, {s.Updated, "updated"}, {s.Unchanged, "unchanged"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return "generated: " + strings.Join(parts, ", ") + took
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
