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

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// Plan is what a project generates: runs of the generators, each over packages of its own.
type Plan struct {
	root string
	runs []planned

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

// The files and names of our scaffold, which are kubebuilder's.
const (
	makefileName = "Makefile"
	managerRole  = "manager-role"
	crdFolder    = "config/crd/bases"
	rolesFolder  = "config/rbac"
	policyFolder = "config/vap"
)

// PlanFor is the plan of the project in root. Findings are what is worth saying about its
// Makefile: calls that cannot be followed, options that are obsolete.
func PlanFor(root string, getenv func(string) string) (Plan, []report.Finding, error) {
	content, err := finite.ReadFile(filepath.Join(root, makefileName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Plan{}, nil, &report.Error{What: "the Makefile cannot be read", Where: filepath.Join(root, makefileName), Err: err}
	}
	files, err := os.OpenRoot(root)
	if err != nil {
		return Plan{}, nil, &report.Error{What: "the project's folder cannot be read", Where: root, Err: err}
	}
	defer files.Close()
	calls := makefile.Calls(content, arguments.Program(), getenv, files.FS())
	plan := Plan{root: root}
	if len(calls) > 0 {
		plan.tool = toolOf(makefile.ToolOf(content, arguments.Program(), controllerGenPackage, getenv, files.FS()))
	}
	var findings []report.Finding
	for _, call := range calls {
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
		if len(calls) > 0 || len(content) > 0 && !callsSlipway(content, getenv) {
			findings = append(findings, report.Finding{Position: report.Position{File: makefileName},
				Message: "slipway cannot follow the call of controller-gen: it uses the defaults", Suggestion: "slipway generate --help lists them"})
		}
		plan.guessed = !callsSlipway(content, getenv)
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

// callsSlipway reports whether a Makefile leaves generating to slipway, as that of our scaffold does.
func callsSlipway(content []byte, getenv func(string) string) bool {
	return len(makefile.Calls(content, makefile.Program{Name: "slipway", Variable: "SLIPWAY"}, getenv, nil)) > 0
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
func (p *Plan) follow(call makefile.Call) ([]report.Finding, error) {
	at := report.Position{File: cmp.Or(call.File, makefileName), Line: call.Line, Column: 1}
	if why := cmp.Or(call.Unclear, p.missing(call.Dir)); why != "" {
		p.partial = true
		p.made(call.Target)
		return []report.Finding{{Position: at,
			Message:    "slipway does not follow this call of controller-gen: " + why,
			Suggestion: makeTarget(call.Target),
		}}, nil
	}
	options, found, err := parse(call.Arguments, at)
	if errors.Is(err, generate.ErrNoGenerator) { // a call for help or the version
		return found, nil
	}
	if err != nil {
		var e *report.Error
		if errors.As(err, &e) && e.Where == "" {
			e.Where = fmt.Sprintf("%s:%d", filepath.Join(p.root, filepath.FromSlash(at.File)), call.Line)
		}
		return nil, err
	}
	if p.manifests.Line == 0 && generatesManifests(options.Uses) {
		p.manifests = at
	}
	p.add(call.Dir, options)
	p.made(call.Target)
	p.removes(call)
	return append(found, p.goesOn(call)...), nil
}

// goesOn is the finding of a recipe that does more after a call.
func (p *Plan) goesOn(call makefile.Call) []report.Finding {
	if call.Then == nil {
		return nil
	}
	p.partial = true
	return []report.Finding{{Position: report.Position{File: cmp.Or(call.Then.File, makefileName), Line: call.Then.Line, Column: 1},
		Message:    "the recipe goes on with " + call.Then.Text + ", which slipway does not run",
		Suggestion: makeTarget(call.Target),
	}}
}

// parse reads the arguments of a call, which stands at a place of the Makefile.
func parse(args []string, at report.Position) (generate.Options, []report.Finding, error) {
	args, tags, err := arguments.WithoutFlags(args)
	if err != nil {
		return generate.Options{}, nil, err
	}
	args, found := modernized(args, at)
	options, err := generate.Parse(args)
	options.Tags = tags
	return options, found, err
}

// missing is why nothing can run in a folder of the project; "" where it can.
func (p *Plan) missing(dir string) string {
	if dir == "" {
		return ""
	}
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return "the project's folder cannot be read"
	}
	defer root.Close()
	if info, err := root.Stat(filepath.FromSlash(dir)); err != nil || !info.IsDir() {
		return "the project has no folder " + dir
	}
	return ""
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
		{Name: "crd", Output: generate.Output{Config: crdFolder}},
		{Name: "rbac", Options: "roleName=" + role, Output: generate.Output{Config: rolesFolder}},
		{Name: "webhook", Output: generate.Output{Config: "config/webhook"}},
		{Name: "applyconfiguration", Options: object.Options},
	}}}, nil
}

// roleName is what the project calls the manager's role: its bindings name it.
func roleName(root string) (string, error) {
	file := filepath.Join(root, filepath.FromSlash(rolesFolder), "role.yaml")
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
