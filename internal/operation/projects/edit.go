package projects

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/spelling"
	"github.com/slipway-dev/slipway/project"
)

// An Edit describes how to change the shape of a project. Fields that are nil or empty leave it as it is.
type Edit struct {
	MultiGroup      *bool
	NoMove          bool // change only PROJECT for MultiGroup
	Namespaced      *bool
	Enable, Disable []string // names of features
	Certs           string   // certificate provider of webhooks and metrics: self or cert-manager
	License         *License
	Manager         string // folder of the manager's main package, if there are several
	NoTypecheck     bool   // do not check that the code still compiles
	operation.Preview
}

// EditProject changes the shape of the project. If a part of the edit fails, nothing is changed.
func EditProject(ctx context.Context, s *operation.Session, e Edit) ([]report.File, error) {
	root, err := s.ProjectRoot()
	if err != nil {
		return nil, err
	}
	edits, err := edits(s, e)
	if err != nil {
		return nil, err
	}
	if len(edits) == 0 {
		return nil, &report.Error{What: "no change was requested", Where: "slipway edit", Hint: "name the change with a flag", Next: "slipway edit --help", Code: report.UsageCode}
	}
	then := noFollowUp
	switch {
	case slices.ContainsFunc(slices.Concat(e.Enable, e.Disable), generated):
		then = func() error { return generation.GenerateOnly(ctx, s, root) }
	case e.MultiGroup != nil && !e.NoMove:
		then = func() error { return regenerateMoved(ctx, s, root) }
	}
	var planned *scaffold.Plan
	plan := func() (*scaffold.Plan, error) {
		planned, err = scaffold.EditProject(s.Folder(root), slices.Concat([]scaffold.Edit{scaffold.ForManager(e.Manager)}, edits)...)
		return unlessBroken(ctx, s, root, e.NoTypecheck, planned, err)
	}
	return MakeChange(ctx, s, root, e.Preview, plan, func() error {
		if e.MultiGroup == nil { // moving packages does not change their code
			noteImage(s, planned)
		}
		if slices.Contains(e.Enable, string(features.Workflow)) {
			warnPinned(s, root)
		}
		return then()
	})
}

// generated reports whether generators write something for a feature.
func generated(name string) bool { return features.Of(features.Name(name)).Generated }

// warnPinned warns that the workflow fails because the project's files are of a newer controller-gen.
func warnPinned(s *operation.Session, root string) {
	plan, _, err := regenerate.PlanFor(root, s.Codebase(root))
	if err != nil {
		return // generating reports the mistake
	}
	source, version := plan.Later()
	if version == "" {
		return
	}
	s.Handler.Handle(report.Warning{Text: fmt.Sprintf("the workflow runs slipway generate --check, which wants the files of controller-gen %s, and %s %s: "+
		"run slipway generate and commit what it changes, or take the step out of the workflow", generate.Newest, source, version)})
}

// noteImage notes that the manager's code changed. Without a new image, the next deployment may run an old manager with
// the new configuration.
func noteImage(s *operation.Session, planned *scaffold.Plan) {
	for _, file := range planned.Changes() {
		if file.Action != report.Kept && strings.HasSuffix(file.Path, ".go") && !strings.HasSuffix(file.Path, "_test.go") {
			s.Handler.Handle(report.Note{Text: "The operator's code has changed: build its image again before the next slipway deploy."})
			return
		}
	}
}

// edits converts an Edit to those of package scaffold.
func edits(s *operation.Session, e Edit) ([]scaffold.Edit, error) {
	var edits []scaffold.Edit
	switch {
	case e.NoMove && e.MultiGroup == nil:
		return nil, &report.Error{What: "nothing was to be moved", Where: "--no-move", Hint: "it belongs to --multigroup", Next: "slipway edit --multigroup --no-move"}
	case e.NoMove:
		edits = append(edits, scaffold.DeclareMultiGroup(*e.MultiGroup))
	case e.MultiGroup != nil:
		edits = append(edits, scaffold.MultiGroup(*e.MultiGroup))
	}
	if e.Namespaced != nil {
		edits = append(edits, scaffold.InNamespace(*e.Namespaced))
	}
	switches, err := editFeatures(e)
	if err != nil {
		return nil, err
	}
	edits = append(edits, switches...)
	if e.License != nil {
		license, err := license(s, *e.License)
		if err != nil {
			return nil, err
		}
		edits = append(edits, scaffold.Relicense(license))
	}
	return edits, nil
}

// editFeatures returns the edits that enable and disable features.
func editFeatures(e Edit) ([]scaffold.Edit, error) {
	on, err := parseFeatures("--enable", e.Enable)
	if err != nil {
		return nil, err
	}
	off, err := parseFeatures("--disable", e.Disable)
	if err != nil {
		return nil, err
	}
	for _, f := range on {
		for _, g := range off {
			if f == g {
				return nil, &report.Error{What: fmt.Sprintf("%s is both enabled and disabled", f), Where: "--enable, --disable", Hint: "choose one of them"}
			}
		}
	}
	keeper, err := parseCertificates(e.Certs)
	if err != nil {
		return nil, err
	}
	if keeper != "" {
		on = append(on, keeper)
	}
	for _, f := range on {
		if other := features.Of(f).Excludes; slices.Contains(on, other) {
			return nil, &report.Error{What: fmt.Sprintf("%s and %s exclude each other", f, other), Where: "--enable", Hint: "choose one of them"}
		}
	}
	var edits []scaffold.Edit
	if at := slices.Index(on, features.Namespaced); at >= 0 { // PROJECT and the manager have it, too
		on = slices.Delete(on, at, at+1)
		edits = append(edits, scaffold.InNamespace(true))
	}
	if at := slices.Index(off, features.Namespaced); at >= 0 {
		off = slices.Delete(off, at, at+1)
		edits = append(edits, scaffold.InNamespace(false))
	}
	var replaced []features.Name // excluded by one to enable; disabled last, since others may need either
	off = slices.DeleteFunc(off, func(f features.Name) bool {
		if !slices.Contains(on, features.Of(f).Excludes) {
			return false
		}
		replaced = append(replaced, f)
		return true
	})
	if len(off) > 0 {
		edits = append(edits, scaffold.Disable(off...))
	}
	if len(on) > 0 {
		edits = append(edits, scaffold.MadeBy(operation.OwnRelease()), scaffold.Enable(on...))
	}
	if len(replaced) > 0 {
		edits = append(edits, scaffold.Disable(replaced...))
	}
	return edits, nil
}

// FeatureNames returns the names of all features, comma-separated.
func FeatureNames() string {
	var names []string
	for _, f := range features.Names() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

func parseFeatures(flag string, names []string) ([]features.Name, error) {
	var all []features.Name
	for _, name := range names {
		f, ok := features.Parse(strings.TrimSpace(name))
		if !ok {
			return nil, &report.Error{What: fmt.Sprintf("unknown feature %q", name), Where: flag, Hint: "use " + FeatureNames() + nearest(name), Next: "slipway edit --help", Code: report.UsageCode}
		}
		all = append(all, f)
	}
	return all, nil
}

// nearest returns a hint with a feature of a similar name, or "".
func nearest(name string) string {
	for _, f := range features.Names() {
		if spelling.Distance(name, string(f), 3) <= 2 {
			return "; did you mean " + string(f) + "?"
		}
	}
	return ""
}

// parseCertificates parses the value of --certs. "" lets the project decide.
func parseCertificates(name string) (features.Name, error) {
	switch name {
	case "":
		return "", nil
	case "cert-manager", "certmanager":
		return features.CertManager, nil
	case "self", "selfcert":
		return features.SelfCert, nil
	}
	return "", &report.Error{What: fmt.Sprintf("unknown certificate provider %q", name), Where: "--certs", Hint: "use self or cert-manager"}
}

// regenerateMoved generates apply configurations again if the project has any: they contain names derived from the
// folders of types. Other generated files do not.
func regenerateMoved(ctx context.Context, s *operation.Session, root string) error {
	file, err := scaffold.ReadProject(s.Folder(root))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(file.Resources, func(r project.Resource) bool { return r.API != nil && r.API.SSA }) {
		return generation.GenerateOnly(ctx, s, root)
	}
	return nil
}
