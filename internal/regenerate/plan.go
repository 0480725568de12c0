package regenerate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
)

// A Plan is what a project generates: runs of the generators, each over its own packages.
type Plan struct {
	root       string
	view       fileview.View
	generation codebase.Generation
	changes    []codebase.Change
	runs       []planned

	more     bool     // recipes do more to generated files than the plan, or unclear is set
	unclear  bool     // some calls cannot be followed
	commands []string // commands of the project that generate
	refusal  error
	usual    bool   // the runs are those of the layout
	name     string // of the program that generated files name; "" if it is not known

	pin            Pin
	contradictions []report.Finding
	old            bool // refusal is about the version

	removed map[string][]string // by recipe, files that it deletes after generating; slash-separated, relative to root

	manifests report.Position // the first call that generates CRDs or roles
}

// Refusal returns why the plan has nothing to run, or nil. Either nothing says what the project generates, or no call
// can be followed.
func (p Plan) Refusal() error { return p.refusal }

// Command returns a shell command that generates all that the project's own recipes do. It returns "" if the plan does
// as much, or if a part of the command would need quoting.
func (p Plan) Command() string {
	if !p.more || slices.Contains(p.commands, "") {
		return ""
	}
	var targets, others []string
	for _, command := range p.commands {
		if target, is := strings.CutPrefix(command, "make "); is {
			targets = append(targets, target)
			continue
		}
		others = append(others, command)
	}
	if len(targets) > 0 {
		others = append([]string{"make " + strings.Join(targets, " ")}, others...)
	}
	return strings.Join(others, " && ")
}

var everywhere = []string{"./..."}

type planned struct {
	dir   string // slash-separated, relative to the project's folder
	paths []string
	tags  []string // nil means the default tags
	uses  []generate.Use
}

// managerRole is the name of the manager's role in kubebuilder's and our scaffold.
const managerRole = "manager-role"

// PlanFor returns the plan of the project in root. The findings are about the project's files: calls that cannot be
// followed, and options that are obsolete.
func PlanFor(root string, code *codebase.Codebase) (Plan, []report.Finding, error) {
	generation, err := code.Generation()
	if err != nil {
		return Plan{}, nil, err
	}
	plan := Plan{root: root, view: code.View(), generation: generation, changes: slices.Concat(generation.Changes(), code.Overwritten(generation))}
	if len(generation.Calls) > 0 {
		plan.name = generation.Tool.Name
	}
	var findings []report.Finding
	for _, call := range generation.Calls {
		found, err := plan.follow(call)
		if err != nil {
			return Plan{}, nil, err
		}
		for _, f := range found {
			if !slices.Contains(findings, f) { // several calls of a recipe share its later steps
				findings = append(findings, f)
			}
		}
	}
	missing, err := plan.withoutWebhooks()
	if err != nil {
		return Plan{}, nil, err
	}
	findings = append(findings, missing...)
	switch {
	case len(plan.runs) > 0:
	case plan.unclear:
		plan.refusal = plan.unfollowed()
		return plan, findings, plan.settle(code)
	case generation.Unknown():
		plan.refusal = plan.undescribed()
		return plan, findings, plan.settle(code)
	default:
		if generation.Sources != nil && !generation.Slipway {
			findings = append(findings, report.Finding{Rule: report.RuleMissingGenerator, Position: report.Position{File: generation.Sources[0]},
				Message: "no call of controller-gen was found: slipway uses the defaults of the project's layout", Suggestion: "slipway generate --help lists them"})
		}
		if plan.runs, err = plan.defaults(); err != nil {
			return plan, findings, err
		}
		plan.usual = true
	}
	err = plan.settle(code)
	if code.Kustomization(codebase.PolicyFolder) != "" {
		plan.Add(generate.Use{Name: "vap", Output: generate.Output{Config: codebase.PolicyFolder}})
	}
	return plan, findings, err
}

// unfollowed returns the refusal if no call can be followed.
func (p *Plan) unfollowed() error {
	call := p.generation.Calls[slices.IndexFunc(p.generation.Calls, func(c codebase.Call) bool { return c.Unclear != "" })]
	return &report.Error{Class: report.BadProject, What: "the call of controller-gen cannot be followed", Where: fmt.Sprintf("%s:%d", call.File, call.Line), Err: errors.New(call.Unclear),
		Hint: "slipway controller-gen takes the same arguments", Next: cmp.Or(call.Command, "slipway controller-gen --help")}
}

// undescribed returns the refusal if nothing says what to generate.
func (p *Plan) undescribed() error {
	looked := "a Makefile, Taskfile.yml, justfile, mise.toml and //go:generate"
	if len(p.generation.Sources) > 0 {
		looked = strings.Join(p.generation.Sources, ", ") + " and //go:generate"
	}
	return &report.Error{Class: report.BadProject, What: "nothing says what this project generates", Where: p.root,
		Hint: "no call of controller-gen was found in " + looked + ", and no PROJECT names a layout that slipway knows; its arguments can be given",
		Next: "slipway controller-gen object crd paths=./..."}
}

// Add adds generators over all packages of the project.
func (p *Plan) Add(uses ...generate.Use) {
	if len(uses) > 0 {
		p.add("", generate.Options{Paths: everywhere, Uses: uses})
	}
}

// PlanOf returns a plan of these generators over all packages of the project in root.
func PlanOf(root string, uses ...generate.Use) Plan {
	return Plan{root: root, runs: []planned{{paths: everywhere, uses: uses}}}
}

// Over returns a plan of these generators over the packages that paths name, in the plan's version of controller-gen.
func (p Plan) Over(paths []string, uses ...generate.Use) Plan {
	return Plan{root: p.root, name: p.name, pin: p.pin, runs: []planned{{paths: paths, uses: uses}}}
}

// follow adds what a call generates.
func (p *Plan) follow(call codebase.Call) ([]report.Finding, error) {
	if call.Unclear != "" {
		p.more, p.unclear = true, true
		p.commands = appendUnique(p.commands, call.Command)
		return []report.Finding{{Rule: report.RuleUnfollowedCall, Position: call.At(),
			Message:    "slipway does not follow this call of controller-gen: " + call.Unclear,
			Suggestion: call.Command,
		}}, nil
	}
	options, err := parse(call)
	if errors.Is(err, generate.ErrNoGenerator) { // the call prints help or the version
		return call.Obsolete, nil
	}
	if err != nil {
		if e, ok := errors.AsType[*report.Error](err); ok {
			e.Class, e.Where = report.BadProject, cmp.Or(e.Where, fmt.Sprintf("%s:%d", filepath.Join(p.root, filepath.FromSlash(call.File)), call.Line))
		}
		return nil, err
	}
	if p.manifests.Line == 0 && generatesManifests(options.Uses) {
		p.manifests = call.At()
	}
	p.add(call.Dir, options)
	p.commands = appendUnique(p.commands, call.Command)
	p.removes(call)
	return append(call.Obsolete, p.laterSteps(call)...), nil
}

// laterSteps returns a finding if the recipe has further steps after a call.
func (p *Plan) laterSteps(call codebase.Call) []report.Finding {
	if len(call.Then) == 0 {
		return nil
	}
	p.more = true
	then := call.Then[0]
	return []report.Finding{{Rule: report.RuleUnfollowedCall, Position: report.Position{File: then.File, Line: then.Line, Column: 1},
		Message:    "the recipe goes on with " + then.Text + ", which slipway does not run",
		Suggestion: call.Command,
	}}
}

// parse parses the arguments of a call with the definitions of its generators.
func parse(call codebase.Call) (generate.Options, error) {
	if call.Err != nil && call.Arguments == nil { // its flags are invalid
		return generate.Options{}, call.Err
	}
	options, err := generate.Parse(call.Arguments)
	options.Tags = call.Tags
	return options, err
}

// add adds generators. Those with the same packages, folder and tags share one run, which loads the packages once.
func (p *Plan) add(dir string, options generate.Options) {
	for i, run := range p.runs {
		if run.dir == dir && slices.Equal(run.paths, options.Paths) && slices.Equal(run.tags, options.Tags) {
			p.runs[i].uses = append(run.uses, options.Uses...)
			return
		}
	}
	p.runs = append(p.runs, planned{dir: dir, paths: options.Paths, tags: options.Tags, uses: options.Uses})
}

// defaults returns the run for a project that only its layout describes. It writes where the layout's kustomizations
// expect the files.
func (p Plan) defaults() ([]planned, error) {
	object := generate.Use{Name: "object"}
	switch there, err := fileview.Exists(p.view, codebase.HeaderFile); {
	case err != nil:
		return nil, &report.Error{Class: report.BadProject, What: "the header of generated files cannot be read", Where: codebase.HeaderFile, Err: err}
	case there:
		object.Options = "headerFile=" + codebase.HeaderFile
	}
	role, err := p.roleName()
	if err != nil {
		return nil, err
	}
	return []planned{{paths: everywhere, uses: []generate.Use{
		object,
		{Name: "crd", Output: generate.Output{Config: codebase.CRDFolder}},
		{Name: "rbac", Options: "roleName=" + role, Output: generate.Output{Config: codebase.RoleFolder}},
		{Name: "webhook", Output: generate.Output{Config: codebase.WebhookFolder}},
		{Name: applyConfigurations, Options: object.Options},
	}}}, nil
}

// roleName returns the name of the project's existing manager role, which bindings refer to, or the scaffold's.
func (p Plan) roleName() (string, error) {
	const file = codebase.RoleFolder + "/role.yaml"
	content, err := p.view.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return managerRole, nil
	case err != nil:
		return "", &report.Error{Class: report.BadProject, What: "the manager's role cannot be read", Where: file, Err: err}
	}
	return cmp.Or(generate.RoleName(content), managerRole), nil
}

// Run runs the plan and merges the results. The plan replaces the fields of options that say what to generate. A fatal
// finding stops it before anything is written. Files are written only below the project and options.Within.
func (p Plan) Run(ctx context.Context, options generate.Options) (generate.Result, error) {
	options.Files = p.view
	options.Within, options.Without = p.within(options.Within), p.filesLeftToRecipes()
	options.Version, options.Program = p.pin.Version, p.name
	all := make([]generate.Options, len(p.runs))
	for i, run := range p.known().runs {
		options.Dir, options.Paths, options.Tags, options.Uses = filepath.Join(p.root, filepath.FromSlash(run.dir)), run.paths, run.tags, run.uses
		all[i] = options
	}
	return generate.RunAll(ctx, all...)
}

// known returns the plan without what the layout has and the version of controller-gen has not.
func (p Plan) known() Plan {
	if p.usual && !generate.Knows(p.pin.Version, applyConfigurations) {
		return p.Except(applyConfigurations)
	}
	return p
}

// Except returns the plan without a generator.
func (p Plan) Except(generator string) Plan {
	p.runs = slices.Clone(p.runs)
	for i, run := range p.runs {
		p.runs[i].uses = slices.DeleteFunc(slices.Clone(run.uses), func(use generate.Use) bool { return use.Name == generator })
	}
	p.runs = slices.DeleteFunc(p.runs, func(run planned) bool { return len(run.uses) == 0 })
	return p
}

// within returns the folders that may be written to: the project's and those that its user allows.
func (p Plan) within(outside []string) []string { return append([]string{p.root}, outside...) }

func appendUnique(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
