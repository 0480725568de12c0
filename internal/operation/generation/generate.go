// Package generation generates files from a project's Go code, or checks that they are up to date.
package generation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/inflection"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/typecheck"
	"github.com/slipway-dev/slipway/internal/userdirs"
	"github.com/slipway-dev/slipway/internal/vet"
	"github.com/slipway-dev/slipway/project"
)

// A Generation is how to bring a project's generated files up to date.
type Generation struct {
	Strict bool // mistakes in markers and warnings about CRDs fail the run
	Fix    bool // first replace in the code what findings have a replacement for
	Prune  bool // delete generated CRDs whose kind is gone
	// ControllerGen is the version of controller-gen whose files to write, such as v0.17.3; empty means the project's.
	ControllerGen string
	Outside       []string // absolute paths of folders outside the project that may be written to
	// NoWebhooks is for commands that do not need webhook configurations. If only webhook markers have mistakes, the
	// run leaves these configurations as they are and succeeds.
	NoWebhooks bool
}

// Generate brings the project's generated files up to date and checks new CRDs as an API server would. It returns the
// action for each file.
func Generate(ctx context.Context, s *operation.Session, g Generation) (generate.Result, error) {
	root, err := operation.GeneratedRoot(s)
	if err != nil {
		return generate.Result{}, err
	}
	begin := time.Now()
	plan, result, err := generateAlone(ctx, s, root, g)
	if err != nil {
		return generate.Result{}, err
	}
	if err := checkDefinitions(ctx, s, root, result, g.Strict); err != nil {
		return generate.Result{}, err
	}
	if err := checkSamples(ctx, s, root, plan, result, g.Strict); err != nil {
		return generate.Result{}, err
	}
	warnOfInflections(s)
	s.Handler.Handle(generated(result, plan.Pin().Version, time.Since(begin)))
	return result, nil
}

// warnOfLater warns that the project uses a version of controller-gen that is newer than the newest one whose files are
// written.
func warnOfLater(s *operation.Session, plan regenerate.Plan) {
	if source, version := plan.Later(); version != "" {
		s.Handler.Handle(report.Warning{Text: source + " controller-gen " + version + ", which is newer than " + generate.Newest + ": the files are those of " + generate.Newest +
			" and name " + version + "; a newer slipway may know it"})
	}
}

// warnOfInflections warns that the user's file of plurals is not used because it is invalid.
func warnOfInflections(s *operation.Session) {
	if err := inflection.Check(); err != nil {
		s.Handler.Handle(report.Warning{Text: "plurals of your own are not used: " + err.Error()})
	}
}

// generateAlone is generateWith under the project's lock.
func generateAlone(ctx context.Context, s *operation.Session, root string, g Generation) (regenerate.Plan, generate.Result, error) {
	release, err := operation.Hold(ctx, s, root)
	if err != nil {
		return regenerate.Plan{}, generate.Result{}, err
	}
	defer release()
	if g.Fix {
		if err := fix(ctx, s, root, g); err != nil {
			return regenerate.Plan{}, generate.Result{}, err
		}
	}
	return generateWith(ctx, s, root, g)
}

// generateWith brings the generated files of the project in root up to date and reports changes. Fatal findings are an
// error.
func generateWith(ctx context.Context, s *operation.Session, root string, g Generation) (regenerate.Plan, generate.Result, error) {
	roles := replacedRoles{}
	plan, result, err := plannedRun(ctx, s, root, g, generate.Options{Strict: g.Strict, Cache: RunsFolder(s), Within: g.Outside, Replacing: roles.note})
	if err != nil {
		return plan, result, err
	}
	ReportRun(s, root, result)
	warnOfRoles(s, root, roles, result)
	return plan, result, reportLeftovers(s, root, plan, result, g)
}

// runGenerators runs generators over the project and reports findings and changes.
func runGenerators(ctx context.Context, s *operation.Session, root string, uses []generate.Use) (generate.Result, error) {
	result, err := RunPlan(ctx, s, root, regenerate.PlanOf(root, uses...), generate.Options{Cache: RunsFolder(s)})
	if err == nil {
		ReportRun(s, root, result)
	}
	return result, err
}

// plannedRun runs the project's plan and reports all findings.
func plannedRun(ctx context.Context, s *operation.Session, root string, g Generation, options generate.Options) (regenerate.Plan, generate.Result, error) {
	plan, findings, err := plan(s, root, g.ControllerGen)
	if err != nil {
		return plan, generate.Result{}, err
	}
	reportFindings(s, root, findings)
	if plan.Refusal() != nil {
		return plan, generate.Result{}, plan.Refusal()
	}
	warnOfLater(s, plan)
	if pin := plan.Pin(); s.Verbose && pin.Version != "" {
		s.Handler.Handle(report.Note{Text: "files of controller-gen " + pin.Version + ": " + pin.Source + " it"})
	}
	s.Handler.Handle(report.Step{Name: "generating"})
	vetted, err := vetFindings(ctx, s, root, g)
	if err != nil {
		return plan, generate.Result{}, err
	}
	options.DryRun = options.DryRun || len(vetted) > 0
	result, err := run(ctx, s, root, plan, options)
	if g.NoWebhooks && err == nil && result.Failed() {
		plan, result, err = retryWithoutWebhooks(ctx, s, root, plan, result, options)
	}
	err = reportResult(s, root, result, err)
	reportLeft(s, plan, result)
	if len(vetted) > 0 && (err == nil || result.Failed()) {
		err = mistakes(slices.Concat(vetted, result.Findings))
	}
	return plan, result, err
}

// vetFindings reports code that compiles but has no effect, if the run is strict. It costs more reading, so other runs
// skip it.
func vetFindings(ctx context.Context, s *operation.Session, root string, g Generation) ([]report.Finding, error) {
	if !g.Strict {
		return nil, nil
	}
	code := s.Codebase(root)
	found, err := vet.Findings(code, func(folders []string) (typecheck.Program, error) {
		program, err := Typechecked(s, root, code.View()).Program(ctx, folders)
		if program.Unknown != "" {
			s.Handler.Handle(report.Note{Text: "permissions are not compared with calls: " + program.Unknown})
		}
		return program, err
	})
	for i := range found {
		found[i].Fatal = true
	}
	reportFindings(s, root, found)
	return found, err
}

// retryWithoutWebhooks runs a failed plan again without webhook configurations. If that succeeds the findings become
// warnings; otherwise it returns the failed result.
func retryWithoutWebhooks(ctx context.Context, s *operation.Session, root string, plan regenerate.Plan, failed generate.Result, options generate.Options) (regenerate.Plan, generate.Result, error) {
	rest := plan.Except("webhook")
	result, err := run(ctx, s, root, rest, options)
	if err != nil || result.Failed() {
		return plan, failed, nil
	}
	for i := range failed.Findings {
		failed.Findings[i].Fatal = false
	}
	reportFindings(s, root, failed.Findings)
	s.Handler.Handle(report.Note{Text: "The configurations of webhooks stay as they are, since their markers have mistakes."})
	return rest, result, nil
}

// reportLeft reports files that were not generated because a recipe edits them after controller-gen.
func reportLeft(s *operation.Session, plan regenerate.Plan, result generate.Result) {
	for _, left := range plan.Left(result.Left) {
		step := left.Change.Step
		text := strings.Join(left.Files, ", ") + " is not generated"
		if len(left.Files) > 1 {
			text = operation.Count(len(left.Files), "file") + ", such as " + left.Files[0] + ", are not generated"
		}
		text += fmt.Sprintf(": after controller-gen, %s:%d changes what it writes, with %s", step.File, step.Line, step.Text)
		if command := left.Change.Call.Command; command != "" {
			text += "; to update them, run " + command
		}
		s.Handler.Handle(report.Note{Text: text})
	}
}

// plan returns the plan of the project in root, including its clients, with findings about its files. Version is the
// version of controller-gen that it follows; "" is the project's.
func plan(s *operation.Session, root, version string) (regenerate.Plan, []report.Finding, error) {
	file, err := description(s, root)
	if err != nil {
		return regenerate.Plan{}, nil, err
	}
	plan, findings, err := regenerate.PlanFor(root, s.Codebase(root))
	if err != nil {
		return plan, nil, err
	}
	if version != "" {
		if plan, err = plan.WithVersion(version); err != nil {
			return plan, nil, err
		}
	}
	findings = append(findings, plan.Contradictions()...)
	license, err := s.Codebase(root).License()
	if err != nil {
		return plan, nil, err
	}
	clients, err := clientsUse(file, license)
	if err != nil {
		return regenerate.Plan{}, nil, err
	}
	plan.Add(clients...)
	return plan, findings, nil
}

// description returns the PROJECT file for generating. Mistakes in single fields become a warning: generating does not
// need the kinds.
func description(s *operation.Session, root string) (*project.Project, error) {
	file, err := s.Codebase(root).Project()
	if file == nil && err == nil {
		return &project.Project{}, nil
	}
	if field, ok := errors.AsType[*project.FieldError](err); ok && field.Field != "" {
		s.Handler.Handle(report.Warning{Text: field.Error() + "; generate follows only the Makefile"})
		return &project.Project{}, nil
	}
	if err != nil {
		_, err = scaffold.ReadProject(s.Folder(root)) // it advises what to do
	}
	return file, err
}

// RunPlan runs a plan and reports findings. Fatal findings are an error.
func RunPlan(ctx context.Context, s *operation.Session, root string, plan regenerate.Plan, options generate.Options) (generate.Result, error) {
	result, err := run(ctx, s, root, plan, options)
	return result, reportResult(s, root, result, err)
}

// run runs a plan. Fatal findings prevent writing. Replaced files are recorded in s.Originals.
func run(ctx context.Context, s *operation.Session, root string, plan regenerate.Plan, options generate.Options) (generate.Result, error) {
	options.Codegen, options.Replacing = codegen.NewFinder(s.Getenv, s.Handler), callBoth(options.Replacing, s.Originals.Recorder(root))
	options.Events = report.HandlerFunc(func(e report.Event) {
		if _, detail := e.(report.Detail); detail || s.Verbose {
			s.Handler.Handle(e)
		}
	})
	defer s.Collector.Patiently()()
	return plan.Run(ctx, options)
}

// callBoth combines two functions, either of which may be nil. It returns nil if both are.
func callBoth(first, second func(path string, before []byte)) func(path string, before []byte) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(path string, before []byte) {
		first(path, before)
		second(path, before)
	}
}

func reportResult(s *operation.Session, root string, result generate.Result, err error) error {
	reportFindings(s, root, result.Findings)
	if err == nil && result.Failed() {
		return mistakes(result.Findings)
	}
	return err
}

// ReportRun reports the action for each file, and with --verbose how much code was read.
func ReportRun(s *operation.Session, root string, result generate.Result) {
	reportFiles(s, root, result.Files)
	if s.Verbose && !result.Recalled {
		s.Handler.Handle(report.Note{Text: fmt.Sprintf("parsed %s, type-checked %s", operation.Count(result.Parsed, "file"), operation.Count(result.Checked, "package"))})
	}
}

func reportFindings(s *operation.Session, root string, findings []report.Finding) {
	for _, f := range findings {
		if of := moduleOf(f.File); of != "" && f.Fatal {
			f.Suggestion = strings.TrimSuffix("this is code of "+of+": require another version of it; "+f.Suggestion, "; ")
		}
		f.File = s.FromHere(root, f.File)
		s.Handler.Handle(f)
	}
}

// RunsFolder returns the cache folder with records of earlier runs, or "" without a cache. Runs whose CRDs were not
// checked have their own.
func RunsFolder(s *operation.Session) string {
	cache, err := userdirs.Cache(s.Getenv)
	if err != nil {
		return ""
	}
	if crdcheck.Off(s.Getenv) {
		return filepath.Join(cache, "runs-unchecked")
	}
	return filepath.Join(cache, "runs")
}

// mistakes returns the error after fatal findings, which are already reported.
func mistakes(findings []report.Finding) error {
	fatal := 0
	for _, f := range findings {
		if f.Fatal {
			fatal++
		}
	}
	return &report.Error{Class: report.BadProject, What: "nothing was generated: " + operation.Count(fatal, "mistake") + " in the code, reported above", Hint: "correct these lines, then run slipway generate again"}
}

func reportFiles(s *operation.Session, root string, files []generate.File) {
	for _, f := range files {
		s.Handler.Handle(report.File{Path: regenerate.Relative(root, f.Path), Action: f.Action})
	}
}

// moduleOf returns path@version of the module in the module cache that contains a file, or "".
func moduleOf(file string) string {
	_, inCache, found := strings.Cut(filepath.ToSlash(file), "/pkg/mod/")
	name, rest, versioned := strings.Cut(inCache, "@")
	version, _, _ := strings.Cut(rest, "/")
	if name, err := module.UnescapePath(name); found && versioned && err == nil {
		return name + "@" + version
	}
	return ""
}

// Typechecked returns a type check of the project in a view, without a change.
func Typechecked(s *operation.Session, root string, view fileview.View) typecheck.Change {
	change := typecheck.Change{Root: root, Before: view, After: view, Environ: s.Environ}
	if cache, err := userdirs.Cache(s.Getenv); err == nil {
		change.Cache = filepath.Join(cache, "exports")
	}
	if s.Program != "" {
		change.Tool = []string{s.Program, typecheck.ToolWord}
	}
	return change
}

// Command returns the command that updates generated files, for advice. It is the project's own, such as make generate,
// if that does more than slipway generate.
func Command(s *operation.Session, root string) string {
	if plan, _, err := regenerate.PlanFor(root, s.Codebase(root)); err == nil && plan.Command() != "" {
		return plan.Command()
	}
	return "slipway generate"
}
