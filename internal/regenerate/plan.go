package regenerate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// Plan is what a project generates: runs of the generators, each over packages of its own.
type Plan struct {
	root       string
	generation codebase.Generation
	runs       []planned

	partial bool     // the Makefile does more than the plan
	targets []string // those of the Makefile that generate
	guessed bool     // nothing says what to generate
	tool    tool

	removed map[string][]string // by targets, the files that a recipe removes after it has made them: relative to root, with slashes

	manifests report.Position // of the first call that generates what is deployed
}

// Guessed reports whether the plan consists of defaults, since no Makefile calls controller-gen or slipway.
func (p Plan) Guessed() bool { return p.guessed }

// Partial reports whether the project's Makefile does more to generated files than the plan does: a recipe goes on
// after controller-gen, or a call cannot be followed. The findings of [PlanFor] have the lines.
func (p Plan) Partial() bool { return p.partial }

// MakeCommand is the call of make that generates all that the Makefile does; "" where the plan does as much, or a shell
// takes the name of a target for more than a word.
func (p Plan) MakeCommand() string {
	if !p.Partial() {
		return ""
	}
	return makeTarget(p.targets...)
}

// makeTarget is the command that makes targets of the Makefile, which may be a stranger's; "" where a shell takes the
// name of one for more than a word.
func makeTarget(targets ...string) string {
	words := strings.Fields(strings.Join(targets, " ")) // a rule may have several
	if slices.ContainsFunc(words, func(t string) bool { return !shellword.IsPlain(t) }) {
		return ""
	}
	return "make " + strings.Join(words, " ")
}

// made adds a target that generates.
func (p *Plan) made(target string) {
	p.targets = with(p.targets, target)
}

// everywhere is all packages of a project.
var everywhere = []string{"./..."}

// planned is one run.
type planned struct {
	dir   string // where it runs, relative to the project's folder and with slashes
	paths []string
	tags  []string // nil is the usual one
	uses  []generate.Use
}

// managerRole is the name of the manager's role in our scaffold, which is kubebuilder's.
const managerRole = "manager-role"

// policyFolder is where our scaffold has policies.
const policyFolder = "config/vap"

// PlanFor is the plan of the project in root, whose code says what it generates. Findings are what is worth saying
// about its Makefile: calls that cannot be followed, options that are obsolete.
func PlanFor(root string, code *codebase.Codebase) (Plan, []report.Finding, error) {
	generation, err := code.Generation()
	if err != nil {
		return Plan{}, nil, err
	}
	plan := Plan{root: root, generation: generation}
	if len(generation.Calls) > 0 {
		plan.tool = toolOf(generation.Tool)
	}
	var findings []report.Finding
	for _, call := range generation.Calls {
		found, err := plan.follow(call)
		if err != nil {
			return Plan{}, nil, err
		}
		for _, f := range found {
			if !slices.Contains(findings, f) { // a recipe with several calls goes on once
				findings = append(findings, f)
			}
		}
	}
	missing, err := plan.withoutWebhooks()
	if err != nil {
		return Plan{}, nil, err
	}
	findings = append(findings, missing...)
	if len(plan.runs) == 0 {
		if plan.guessed = !generation.Slipway; len(generation.Calls) > 0 || generation.Makefile && plan.guessed {
			findings = append(findings, report.Finding{Position: report.Position{File: "Makefile"},
				Message: "slipway cannot follow the call of controller-gen: it uses the defaults", Suggestion: "slipway generate --help lists them"})
		}
		plan.runs, err = defaults(root)
	}
	if _, on := os.Stat(filepath.Join(root, filepath.FromSlash(policyFolder), "kustomization.yaml")); on == nil {
		plan.Add(generate.Use{Name: "vap", Output: generate.Output{Config: policyFolder}})
	}
	return plan, findings, err
}

// Add adds generators over all packages, which the project needs besides.
func (p *Plan) Add(uses ...generate.Use) {
	if len(uses) > 0 {
		p.add("", generate.Options{Paths: everywhere, Uses: uses})
	}
}

// PlanOf is a plan of these generators over all packages of the project in root.
func PlanOf(root string, uses ...generate.Use) Plan {
	return Plan{root: root, runs: []planned{{paths: everywhere, uses: uses}}}
}

// PlanOver is a plan of these generators over the packages that paths name.
func PlanOver(root string, paths []string, uses ...generate.Use) Plan {
	return Plan{root: root, runs: []planned{{paths: paths, uses: uses}}}
}

// follow adds what a call in the Makefile generates.
func (p *Plan) follow(call codebase.Call) ([]report.Finding, error) {
	if call.Unclear != "" {
		p.partial = true
		p.made(call.Target)
		return []report.Finding{{Position: call.At(),
			Message:    "slipway does not follow this call of controller-gen: " + call.Unclear,
			Suggestion: makeTarget(call.Target),
		}}, nil
	}
	options, err := parse(call)
	if errors.Is(err, generate.ErrNoGenerator) { // a call for help or the version
		return call.Obsolete, nil
	}
	if err != nil {
		var e *report.Error
		if errors.As(err, &e) && e.Where == "" {
			e.Where = fmt.Sprintf("%s:%d", filepath.Join(p.root, filepath.FromSlash(call.At().File)), call.Line)
		}
		return nil, err
	}
	if p.manifests.Line == 0 && generatesManifests(options.Uses) {
		p.manifests = call.At()
	}
	p.add(call.Dir, options)
	p.made(call.Target)
	p.removes(call.Call)
	return append(call.Obsolete, p.goesOn(call.Call)...), nil
}

// goesOn is the finding of a recipe that does more after a call.
func (p *Plan) goesOn(call makefile.Call) []report.Finding {
	if call.Then == nil {
		return nil
	}
	p.partial = true
	return []report.Finding{{Position: report.Position{File: cmp.Or(call.Then.File, "Makefile"), Line: call.Then.Line, Column: 1},
		Message:    "the recipe goes on with " + call.Then.Text + ", which slipway does not run",
		Suggestion: makeTarget(call.Target),
	}}
}

// parse checks the arguments of a call as its generators define them.
func parse(call codebase.Call) (generate.Options, error) {
	if call.Err != nil && call.Arguments == nil { // its flags
		return generate.Options{}, call.Err
	}
	options, err := generate.Parse(call.Arguments)
	options.Tags = call.Tags
	return options, err
}

// add puts generators over the same packages of a folder, read with the same tags, into one run, which reads them once.
func (p *Plan) add(dir string, options generate.Options) {
	for i, run := range p.runs {
		if run.dir == dir && slices.Equal(run.paths, options.Paths) && slices.Equal(run.tags, options.Tags) {
			p.runs[i].uses = append(run.uses, options.Uses...)
			return
		}
	}
	p.runs = append(p.runs, planned{dir: dir, paths: options.Paths, tags: options.Tags, uses: options.Uses})
}

// defaults are the generators of a project whose Makefile names none. Their output goes
// where its kustomizations look for it.
func defaults(root string) ([]planned, error) {
	object := generate.Use{Name: "object"}
	switch _, err := os.Stat(filepath.Join(root, filepath.FromSlash(boilerplate))); {
	case err == nil:
		object.Options = "headerFile=" + boilerplate
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &report.Error{What: "the header of generated files cannot be read", Where: boilerplate, Err: err}
	}
	role, err := roleName(root)
	if err != nil {
		return nil, err
	}
	return []planned{{paths: everywhere, uses: []generate.Use{
		object,
		{Name: "crd", Output: generate.Output{Config: codebase.CRDFolder}},
		{Name: "rbac", Options: "roleName=" + role, Output: generate.Output{Config: codebase.RoleFolder}},
		{Name: "webhook", Output: generate.Output{Config: codebase.WebhookFolder}},
		{Name: "applyconfiguration", Options: object.Options},
	}}}, nil
}

// roleName is what the project calls the manager's role: its bindings name it.
func roleName(root string) (string, error) {
	file := filepath.Join(root, filepath.FromSlash(codebase.RoleFolder), "role.yaml")
	content, err := finite.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return managerRole, nil
	case err != nil:
		return "", &report.Error{What: "the manager's role cannot be read", Where: file, Err: err}
	}
	return cmp.Or(generate.RoleName(content), managerRole), nil
}

// Run runs the plan with what options say beside what to generate, and joins the results. It stops at the first run
// with a fatal finding, and then nothing was written. Files that the Makefile and links of the project lead to are
// written below the project, and below options.Within.
func (p Plan) Run(ctx context.Context, options generate.Options) (generate.Result, error) {
	options.Within, options.Without = p.within(options.Within), p.without()
	options.Version, options.Program, options.KeepVersion = p.tool.version, p.tool.name, p.tool.keepVersion
	all := make([]generate.Options, len(p.runs))
	for i, run := range p.runs {
		options.Dir, options.Paths, options.Tags, options.Uses = filepath.Join(p.root, filepath.FromSlash(run.dir)), run.paths, run.tags, run.uses
		all[i] = options
	}
	return generate.RunAll(ctx, all...)
}

// within are the folders that may be written below: the project's own, and those that its user allows besides.
func (p Plan) within(outside []string) []string { return append([]string{p.root}, outside...) }
