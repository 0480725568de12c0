// Package newwebhook plans what `create webhook` makes: defaulters, validators and conversions with their tests, their
// lines in the manager's code, and what deploys them. [Create] plans webhooks. [Record] records what a project has of
// them, for undoing.
package newwebhook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fieldcopy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/header"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/project"
)

// Options are the flags of `create webhook`. The kind may be the project's, one of Kubernetes, or one of another
// module.
type Options struct {
	Group, Version, Kind string
	Plural               string              // default: derived by English rules
	Defaulting           bool                // sets defaults
	Validation           bool                // rejects invalid objects
	Conversion           bool                // this version is the hub, to and from which others are converted
	Spokes               []string            // the versions that are converted; default: all others
	Renamed              []fieldcopy.Renamed // fields that only the hub calls so
	DefaultingPath       string              // default: what controller-runtime derives from the kind
	ValidationPath       string
	External             kind.External // the types' place in another module
	SkipWiring           bool          // leave the manager's code to the user
	Manager              string        // folder of the manager's main package, if there are several
	Certificates         features.Name // CertManager or SelfCert; "" for what the project has
}

// ErrOneVersion reports that a kind with a single version gets no conversion.
var ErrOneVersion = errors.New("the kind has one version")

// Create plans webhooks. It keeps all existing files and adds what is missing.
func Create(folder *fileview.Folder, o Options) (*plan.Plan, error) {
	p, file, err := projectfile.Open(folder)
	if err != nil {
		return nil, err
	}
	return p, Add(p, file, o)
}

// Add is [Create] in a plan that may have changed the project already.
func Add(p *plan.Plan, file *project.Project, o Options) error {
	w, err := newPlanner(p, file, o)
	if err != nil {
		return err
	}
	return w.plan()
}

// Check returns refusals of [Create], so that callers can run it before they fetch modules.
func Check(folder *fileview.Folder, o Options) error {
	p, file, err := projectfile.Open(folder)
	if err == nil {
		_, err = newPlanner(p, file, o)
	}
	return err
}

func newPlanner(p *plan.Plan, file *project.Project, o Options) (*planner, error) {
	if err := p.Code().Choose(o.Manager); err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	w := &planner{Plan: p, project: file, options: o}
	var err error
	if w.generation, err = p.Code().Generation(); err != nil {
		return nil, err
	}
	w.versions = p.Code().Versions()
	if err := w.checkVersions(); err != nil {
		return nil, err
	}
	return w, w.resolve()
}

// webhookPath matches the paths that controller-runtime accepts.
var webhookPath = lazy.Regexp(`^(/[a-zA-Z0-9-_]+)+$`)

// Check refuses invalid names and flags without reading the project.
func (o Options) Check() error {
	if err := kind.CheckNames(o.Group, o.Version, o.Kind, o.Plural); err != nil {
		return err
	}
	if err := o.External.Check(); err != nil {
		return err
	}
	if !o.Defaulting && !o.Validation && !o.Conversion {
		return &report.Error{What: "no webhook is selected", Where: "--defaulting, --programmatic-validation, --conversion", Hint: "add at least one of them", Next: "slipway create webhook --help"}
	}
	for _, p := range []struct {
		flag, path string
		used       bool
	}{{"--defaulting-path", o.DefaultingPath, o.Defaulting}, {"--validation-path", o.ValidationPath, o.Validation}} {
		switch {
		case p.path != "" && !p.used:
			return &report.Error{What: "the webhook of this path is not created", Where: p.flag, Hint: "create it, too: " + map[string]string{"--defaulting-path": "--defaulting", "--validation-path": "--programmatic-validation"}[p.flag]}
		case p.path != "" && !webhookPath().MatchString(p.path):
			return &report.Error{What: fmt.Sprintf("invalid path of a webhook %q", p.path), Where: p.flag, Hint: "use letters, digits, - and _ between slashes, such as /mutate-cronjob"}
		}
	}
	if len(o.Spokes) > 0 && !o.Conversion {
		return &report.Error{What: "--spoke needs the conversion webhook", Where: "--spoke", Hint: "add --conversion"}
	}
	return nil
}

type planner struct {
	*plan.Plan
	options  Options
	project  *project.Project
	resource project.Resource
	recorded *project.Resource // the kind's entry in PROJECT, or nil
	spokes   []project.Resource
	header   string
	versions codebase.Versions

	theirs     project.Webhooks // requested webhooks whose code the authors wrote
	inOwnSuite bool             // the tests run in a suite that the authors wrote
	generation codebase.Generation
}

// resolve finds the kind: in PROJECT, in another module, or in Kubernetes.
func (w *planner) resolve() error {
	o := w.options
	w.recorded = w.project.Lookup(o.Group, o.Version, o.Kind)
	switch {
	case w.recorded != nil:
		w.resource = *w.recorded
	case o.External.Path != "":
		w.resource = project.Resource{External: true, Path: o.External.Path, Domain: o.External.Domain, Module: o.External.Module}
	default:
		domain, ok := project.CoreDomain(o.Group)
		if !ok || slices.Contains(w.project.Groups(), o.Group) { // a group of its own, such as batch, hides the one of Kubernetes
			return w.unknown()
		}
		w.resource = project.Resource{Core: true, Path: project.CorePath(o.Group, o.Version), Domain: domain}
	}
	w.resource.Group, w.resource.Version, w.resource.Kind = o.Group, o.Version, o.Kind
	if o.Plural != "" {
		w.resource.Plural = o.Plural
	}
	if !w.resource.HasOwnPlural() {
		w.resource.Plural = ""
	}
	if err := w.resource.Validate(); err != nil {
		return projectfile.InvalidName(err)
	}
	if kind.Foreign(w.resource) {
		if err := projectfile.RefuseTerse(w.project, "webhooks of kinds that the project does not define"); err != nil {
			return err
		}
	}
	if err := kind.CheckBuiltin(w.Plan, w.resource, w.recorded, o.again); err != nil {
		return err
	}
	var err error
	if w.header, err = header.Read(w.Plan); err != nil {
		return err
	}
	return w.resolveSpokes()
}

// unknown is the refusal of a kind that does not exist. It suggests the nearest one.
func (w *planner) unknown() error {
	o := w.options
	if err := w.unlisted(); err != nil {
		return err
	}
	hint := "create it first; for a kind of another module add --external-api-path, for one of Kubernetes use its group, such as core or apps"
	another := false
	for _, r := range w.project.Resources {
		another = another || r.Kind == o.Kind && r.Group == o.Group
		if r.Kind == o.Kind {
			hint = fmt.Sprintf("there is %s in the group %q, version %s", r.Kind, r.Group, r.Version)
		}
	}
	e := &report.Error{
		What: fmt.Sprintf("the project has no kind %s in the group %q, version %s", o.Kind, o.Group, o.Version), Where: project.FileName, Hint: hint,
		Next: fmt.Sprintf("slipway create api --group %s --version %s --kind %s --resource --controller", shellword.Quote(o.Group), shellword.Quote(o.Version), shellword.Quote(o.Kind)),
		Code: report.UsageCode,
	}
	if another { // whose controller is the one of all versions
		e.Next += "=false"
	}
	instead := project.Resource{Group: o.Group, Kind: o.Kind}
	if near := codebase.NearestKind(w.project.Resources, o.Group, o.Version, o.Kind); near != nil {
		instead = *near
		e.Hint = "did you mean " + near.Kind + "?"
		if near.Group != o.Group {
			e.Hint = fmt.Sprintf("did you mean the group %q?", near.Group)
		}
	} else if group := codebase.NearestGroup(o.Group); group != "" && !slices.Contains(w.project.Groups(), o.Group) {
		instead.Group, e.Hint = group, fmt.Sprintf("did you mean the group %q of Kubernetes?", group)
	} else {
		return e
	}
	instead.Version = o.Version
	e.Next = o.again(instead)
	return e
}

// again is the command for these webhooks of another kind.
func (o Options) again(of project.Resource) string {
	return fmt.Sprintf("slipway create webhook --group %s --version %s --kind %s%s", shellword.Quote(of.Group), shellword.Quote(of.Version), shellword.Quote(of.Kind), o.flags())
}

// unlisted is the refusal of a kind whose type the code has and PROJECT does not list; nil if the code has none.
func (w *planner) unlisted() error {
	o := w.options
	r := project.Resource{Group: o.Group, Version: o.Version, Kind: o.Kind, Domain: w.project.Domain}
	found, err := projectfile.Declarations(w.Plan, w.project, r)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(found, func(k codebase.Kind) bool { return k.Package.Version == o.Version })
	if i < 0 {
		return nil
	}
	return &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf("PROJECT does not list %s %s, whose type the project's code has", r.APIVersion(), r.Kind),
		Where: found[i].Where(), Hint: "add it to PROJECT first, with the code as it is",
		Next: fmt.Sprintf("slipway create api --group %s --version %s --kind %s --resource --controller=false", shellword.Quote(o.Group), shellword.Quote(o.Version), shellword.Quote(o.Kind)),
	}
}

func (o Options) flags() (flags string) {
	for _, f := range []struct {
		is   bool
		flag string
	}{{o.Defaulting, " --defaulting"}, {o.Validation, " --programmatic-validation"}, {o.Conversion, " --conversion"}} {
		if f.is {
			flags += f.flag
		}
	}
	return flags
}

// resolveSpokes finds the versions to convert.
func (w *planner) resolveSpokes() error {
	if !w.options.Conversion {
		return nil
	}
	if w.resource.API == nil {
		return &report.Error{What: "only kinds of the project itself can have a conversion", Where: "--conversion", Hint: w.resource.Kind + " belongs to another module"}
	}
	others := w.otherVersions()
	for _, r := range others {
		if r.Webhooks != nil && r.Webhooks.Conversion {
			return &report.Error{What: fmt.Sprintf("%s already has a hub, version %s", r.Kind, r.Version), Where: "--version " + w.resource.Version, Hint: "a kind has one hub; add spokes to it",
				Next: fmt.Sprintf("slipway create webhook --group %s --version %s --kind %s --conversion", shellword.Quote(r.Group), shellword.Quote(r.Version), shellword.Quote(r.Kind))}
		}
	}
	if len(others) == 0 {
		return &report.Error{What: "the kind has no other version to convert", Where: "--conversion", Hint: "create one first", Err: ErrOneVersion,
			Next: fmt.Sprintf("slipway create api --group %s --version v2 --kind %s --resource --controller=false", shellword.Quote(w.resource.Group), shellword.Quote(w.resource.Kind))}
	}
	if len(w.options.Spokes) == 0 {
		w.spokes = others
		return nil
	}
	for _, version := range w.options.Spokes {
		i := slices.IndexFunc(others, func(r project.Resource) bool { return r.Version == version })
		if i < 0 {
			return w.unknownSpoke(version, others)
		}
		w.spokes = append(w.spokes, others[i])
	}
	return w.refuseLeftOut(others)
}

// refuseLeftOut refuses a version that is neither the hub nor a spoke: a manager does not start then.
func (w *planner) refuseLeftOut(others []project.Resource) error {
	spokes := slices.Clone(w.options.Spokes)
	if w.resource.Webhooks != nil {
		spokes = append(spokes, w.resource.Webhooks.Spoke...)
	}
	var leftOut []string
	for _, r := range others {
		if !slices.Contains(spokes, r.Version) {
			leftOut = append(leftOut, r.Version)
		}
	}
	if len(leftOut) == 0 {
		return nil
	}
	return &report.Error{
		What: fmt.Sprintf("version %s of %s is neither the hub nor a spoke", strings.Join(leftOut, ", "), w.resource.Kind), Where: "--spoke",
		Hint: "list all versions or leave out --spoke: a manager does not start if a version has no conversion",
		Next: fmt.Sprintf("slipway create webhook --group %s --version %s --kind %s --conversion", shellword.Quote(w.resource.Group), shellword.Quote(w.resource.Version), shellword.Quote(w.resource.Kind)),
	}
}

func (w *planner) unknownSpoke(version string, others []project.Resource) error {
	var have []string
	for _, r := range others {
		have = append(have, r.Version)
	}
	return &report.Error{
		What: fmt.Sprintf("%s has no other version %s", w.resource.Kind, version), Where: "--spoke", Hint: "use " + strings.Join(have, ", "),
		Next: fmt.Sprintf("slipway create api --group %s --version %s --kind %s --resource --controller=false", shellword.Quote(w.resource.Group), shellword.Quote(version), shellword.Quote(w.resource.Kind)),
	}
}

// otherVersions returns the kind's other versions that the project defines.
func (w *planner) otherVersions() []project.Resource {
	var others []project.Resource
	for _, r := range w.project.Resources {
		if r.API != nil && r.Group == w.resource.Group && r.Kind == w.resource.Kind && r.Version != w.resource.Version {
			others = append(others, r)
		}
	}
	return others
}
