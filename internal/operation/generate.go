package operation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/cachefolder"
	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/inflection"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/typecheck"
	"github.com/slipway-dev/slipway/internal/vet"
	"github.com/slipway-dev/slipway/project"
)

// A Generation is how to bring a project's generated files up to date.
type Generation struct {
	Strict  bool     // misspelt and misplaced markers fail it, and so does what CRDs are warned of
	Prune   bool     // delete generated CRDs whose kind is gone
	Outside []string // absolute paths of folders beside the project's that may be written below
	// NoWebhooks is for who asks for no configurations of webhooks: they stay as they are where markers of webhooks
	// have mistakes, which do not stop the run.
	NoWebhooks bool
}

// Generate brings the project's generated files up to date and has new definitions checked as an API server would.
func (s *Session) Generate(ctx context.Context, g Generation) error {
	root, err := s.generatedRoot()
	if err != nil {
		return err
	}
	begin := time.Now()
	plan, result, err := s.generateAlone(ctx, root, g)
	if err != nil {
		return err
	}
	if err := s.checkDefinitions(ctx, root, result, g.Strict); err != nil {
		return err
	}
	if err := s.checkSamples(ctx, root, plan, result, g.Strict); err != nil {
		return err
	}
	s.noteOther(plan, result)
	s.warnOfInflections()
	s.Handler.Handle(generated(result, time.Since(begin)))
	return nil
}

// noteOther says that changes of CRDs may come from another version of controller-gen than the project's.
func (s *Session) noteOther(plan regenerate.Plan, result generate.Result) {
	changed := func(f generate.File) bool {
		_, definition := f.Locate("")
		return definition && f.Action == report.Updated
	}
	if !slices.ContainsFunc(result.Files, changed) {
		return
	}
	if source, version := plan.Other(); version != "" {
		s.Handler.Handle(report.Note{Text: "The CRDs are as controller-gen " + generate.ControllerGen + " writes them; " + source + " " + version + ", which may write other ones."})
	}
}

// warnOfInflections warns that plurals which the user adds in a file are not heeded, as long as it cannot be used.
func (s *Session) warnOfInflections() {
	if err := inflection.Check(); err != nil {
		s.Handler.Handle(report.Warning{Text: "plurals of your own are not used: " + err.Error()})
	}
}

// generateAlone generates while no other command changes the project.
func (s *Session) generateAlone(ctx context.Context, root string, g Generation) (regenerate.Plan, generate.Result, error) {
	release, err := s.hold(ctx, root)
	if err != nil {
		return regenerate.Plan{}, generate.Result{}, err
	}
	defer release()
	return s.generateWith(ctx, root, g)
}

// generateWith brings the generated files of the project in root up to date and
// tells what changed. Findings that make the result wrong are an error.
func (s *Session) generateWith(ctx context.Context, root string, g Generation) (regenerate.Plan, generate.Result, error) {
	roles := replacedRoles{}
	plan, result, err := s.plannedRun(ctx, root, g, generate.Options{Strict: g.Strict, Cache: s.runsFolder(), Within: g.Outside, Replacing: roles.note})
	if err != nil {
		return plan, result, err
	}
	s.reportRun(root, result)
	s.warnOfRoles(root, roles, result)
	return plan, result, s.reportLeftovers(root, plan, result, g)
}

// runGenerators runs these generators in the project, and tells what they found and what changed.
func (s *Session) runGenerators(ctx context.Context, root string, uses []generate.Use) (generate.Result, error) {
	result, err := s.runPlan(ctx, root, regenerate.PlanOf(root, uses...), generate.Options{Cache: s.runsFolder()})
	if err == nil {
		s.reportRun(root, result)
	}
	return result, err
}

// plannedRun runs the project's plan and tells all findings.
func (s *Session) plannedRun(ctx context.Context, root string, g Generation, options generate.Options) (regenerate.Plan, generate.Result, error) {
	plan, findings, err := s.plan(root)
	if err != nil {
		return plan, generate.Result{}, err
	}
	s.reportFindings(root, findings)
	if plan.Refusal() != nil {
		return plan, generate.Result{}, plan.Refusal()
	}
	s.Handler.Handle(report.Step{Name: "generating"})
	vetted, err := s.vet(ctx, root, g)
	if err != nil {
		return plan, generate.Result{}, err
	}
	options.DryRun = options.DryRun || len(vetted) > 0
	result, err := s.run(ctx, root, plan, options)
	if g.NoWebhooks && err == nil && result.Failed() {
		plan, result, err = s.withoutMistaken(ctx, root, plan, result, options)
	}
	err = s.judge(root, result, err)
	s.reportLeft(plan, result)
	if len(vetted) > 0 && (err == nil || result.Failed()) {
		err = mistakes(slices.Concat(vetted, result.Findings))
	}
	return plan, result, err
}

// vet reports code that does nothing although it compiles, if the run is strict: the generators need not know, and read
// less.
func (s *Session) vet(ctx context.Context, root string, g Generation) ([]report.Finding, error) {
	if !g.Strict {
		return nil, nil
	}
	code := s.codebase(root)
	found, err := vet.Findings(code, func(folders []string) (typecheck.Program, error) {
		program, err := s.typechecked(root, code.View()).Program(ctx, folders)
		if program.Unknown != "" {
			s.Handler.Handle(report.Note{Text: "permissions are not compared with calls: " + program.Unknown})
		}
		return program, err
	})
	for i := range found {
		found[i].Fatal = true
	}
	s.reportFindings(root, found)
	return found, err
}

// withoutMistaken runs what is left of a plan that failed without the configurations of webhooks, if mistakes in these
// alone stopped it.
func (s *Session) withoutMistaken(ctx context.Context, root string, plan regenerate.Plan, failed generate.Result, options generate.Options) (regenerate.Plan, generate.Result, error) {
	rest := plan.Except("webhook")
	result, err := s.run(ctx, root, rest, options)
	if err != nil || result.Failed() {
		return plan, failed, nil
	}
	for i := range failed.Findings {
		failed.Findings[i].Fatal = false
	}
	s.reportFindings(root, failed.Findings)
	s.Handler.Handle(report.Note{Text: "The configurations of webhooks stay as they are, since their markers have mistakes."})
	return rest, result, nil
}

// reportLeft reports which files were not made, since a recipe changes them after controller-gen.
func (s *Session) reportLeft(plan regenerate.Plan, result generate.Result) {
	for _, left := range plan.Left(result.Left) {
		step := left.Change.Step
		text := strings.Join(left.Files, ", ") + " is not generated"
		if len(left.Files) > 1 {
			text = count(len(left.Files), "file") + ", such as " + left.Files[0] + ", are not generated"
		}
		text += fmt.Sprintf(": after controller-gen, %s:%d changes what it writes, with %s", step.File, step.Line, step.Text)
		if command := left.Change.Call.Command; command != "" {
			text += "; to update them, run " + command
		}
		s.Handler.Handle(report.Note{Text: text})
	}
}

// plan is what the project in root generates, and what is worth reporting about the files that have it generated.
func (s *Session) plan(root string) (regenerate.Plan, []report.Finding, error) {
	file, err := s.description(root)
	if err != nil {
		return regenerate.Plan{}, nil, err
	}
	plan, findings, err := regenerate.PlanFor(root, s.codebase(root))
	if err != nil {
		return plan, nil, err
	}
	license, err := s.codebase(root).License()
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

// description is the project as far as generating needs to know it. A kind in PROJECT that is not described well does
// not concern generating.
func (s *Session) description(root string) (*project.Project, error) {
	file, err := s.codebase(root).Project()
	if file == nil && err == nil {
		return &project.Project{}, nil
	}
	if field, ok := errors.AsType[*project.FieldError](err); ok && field.Field != "" {
		s.Handler.Handle(report.Warning{Text: field.Error() + "; generate follows only the Makefile"})
		return &project.Project{}, nil
	}
	if err != nil {
		_, err = scaffold.ReadProject(s.folder(root)) // which says what to do about it
	}
	return file, err
}

// runPlan runs a plan and reports what it found in the code. Findings that make the result wrong are an error.
func (s *Session) runPlan(ctx context.Context, root string, plan regenerate.Plan, options generate.Options) (generate.Result, error) {
	result, err := s.run(ctx, root, plan, options)
	return result, s.judge(root, result, err)
}

// run runs a plan, which writes nothing if findings make the result wrong. What is replaced is noted, besides what
// options do with it.
func (s *Session) run(ctx context.Context, root string, plan regenerate.Plan, options generate.Options) (generate.Result, error) {
	options.Codegen, options.Replacing = codegen.NewFinder(s.Getenv, s.Handler), both(options.Replacing, s.replaced.noting(root))
	options.Events = report.HandlerFunc(func(e report.Event) {
		if _, detail := e.(report.Detail); detail || s.Verbose {
			s.Handler.Handle(e)
		}
	})
	defer s.Collector.Patiently()()
	return plan.Run(ctx, options)
}

// judge reports what a run found.
func (s *Session) judge(root string, result generate.Result, err error) error {
	s.reportFindings(root, result.Findings)
	if err == nil && result.Failed() {
		return mistakes(result.Findings)
	}
	return err
}

// reportRun reports what became of each file and, to those who want to know, how much was read for that.
func (s *Session) reportRun(root string, result generate.Result) {
	s.reportFiles(root, result.Files)
	if s.Verbose && !result.Recalled {
		s.Handler.Handle(report.Note{Text: fmt.Sprintf("parsed %s, type-checked %s", count(result.Parsed, "file"), count(result.Checked, "package"))})
	}
}

func (s *Session) reportFindings(root string, findings []report.Finding) {
	for _, f := range findings {
		if of := moduleOf(f.File); of != "" && f.Fatal {
			f.Suggestion = strings.TrimSuffix("this is code of "+of+": require another version of it; "+f.Suggestion, "; ")
		}
		f.File = s.fromHere(root, f.File)
		s.Handler.Handle(f)
	}
}

// runsFolder is the folder of the user's cache that remembers what generators have
// read and written; "" when there is no place for it.
func (s *Session) runsFolder() string {
	cache, err := cachefolder.Root(s.Getenv)
	if err != nil {
		return ""
	}
	if crdcheck.Off(s.Getenv) {
		return filepath.Join(cache, "runs-unchecked")
	}
	return filepath.Join(cache, "runs")
}

// mistakes is the error after fatal findings, which were told already.
func mistakes(findings []report.Finding) error {
	fatal := 0
	for _, f := range findings {
		if f.Fatal {
			fatal++
		}
	}
	return &report.Error{What: "nothing was generated: " + count(fatal, "mistake") + " in the code, reported above", Hint: "correct these lines, then run slipway generate again"}
}

func (s *Session) reportFiles(root string, files []generate.File) {
	for _, f := range files {
		s.Handler.Handle(report.File{Path: regenerate.Relative(root, f.Path), Action: f.Action})
	}
}

// moduleOf is the module, path@version, that a file in the module cache is of; "" for other files.
func moduleOf(file string) string {
	_, inCache, found := strings.Cut(filepath.ToSlash(file), "/pkg/mod/")
	name, rest, versioned := strings.Cut(inCache, "@")
	version, _, _ := strings.Cut(rest, "/")
	if name, err := module.UnescapePath(name); found && versioned && err == nil {
		return name + "@" + version
	}
	return ""
}
