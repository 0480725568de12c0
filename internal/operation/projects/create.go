// Package projects creates projects and changes their files: init, create, edit and delete.
package projects

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// A Change holds the options that all changes of a project share.
type Change struct {
	Generate    bool // run the generators afterwards
	NoTypecheck bool // do not check that the code still compiles
	operation.Preview
}

// An API is a kind to add to a project, or to complete there.
type API struct {
	scaffold.API
	Change
}

// ImagePlugin is the plug-in key under which PROJECT records that a controller runs an image.
const ImagePlugin = scaffold.ImagePlugin

// CreateAPI adds a kind to the project. It returns the changed files except for generated ones, or nil if the project
// has it all. With a preview it returns those that it would change. All operations here that change a project do so.
func CreateAPI(ctx context.Context, s *operation.Session, a API) ([]report.File, error) {
	root, err := s.ProjectRoot()
	if err != nil {
		return nil, err
	}
	warnOfScope(s, root, a.API)
	if err := fetchExternal(ctx, s, root, a.Preview, a.External, func() error { return scaffold.CheckAPI(s.Folder(root), a.API) }); err != nil {
		return nil, err
	}
	var planned *scaffold.Plan
	changes, err := MakeChange(ctx, s, root, a.Preview, func() (made *scaffold.Plan, err error) {
		planned, err = unlessTestsBroken(ctx, s, root, a.NoTypecheck, func(untested string) (*scaffold.Plan, error) {
			a.Untested = untested
			return scaffold.CreateAPI(s.Folder(root), a.API)
		})
		return planned, err
	}, func() error { return afterCreateAPI(ctx, s, root, a, planned) })
	return noteGenerating(s, root, a.Change, planned, changes, err)
}

// noteGenerating notes that a preview does not list generated files.
func noteGenerating(s *operation.Session, root string, c Change, planned *scaffold.Plan, changes []report.File, err error) ([]report.File, error) {
	if err == nil && c.Only() && c.Generate && !planned.Empty() {
		s.Handler.Handle(report.Note{Text: "The list has no changes that generators make afterwards: " + generation.Command(s, root) + " makes those."})
	}
	return changes, err
}

// fetchExternal adds the module of an external kind to go.mod, over the network. Check runs first and refuses what it
// can offline.
func fetchExternal(ctx context.Context, s *operation.Session, root string, p operation.Preview, external scaffold.External, check func() error) error {
	if external.Module == "" || p.Only() {
		return nil
	}
	if err := check(); err != nil {
		return err
	}
	if err := noteModuleFiles(s, root); err != nil {
		return err
	}
	return scaffold.Require(ctx, root, external, s.Handler)
}

// warnOfScope warns that a namespaced manager does not see objects of a cluster-scoped kind.
func warnOfScope(s *operation.Session, root string, api scaffold.API) {
	if api.Namespaced || !api.Controller {
		return
	}
	// Planning reports mistakes in PROJECT, with their places.
	if file, err := s.Codebase(root).Project(); err == nil && file != nil && file.Namespaced {
		s.Handler.Handle(report.Warning{Text: "the manager has permissions only in its own namespace, but objects of this kind belong to no namespace; give it a ClusterRole, or run slipway edit --namespaced=false"})
	}
}

// afterCreateAPI generates for the new API and reports the next step.
func afterCreateAPI(ctx context.Context, s *operation.Session, root string, a API, planned *scaffold.Plan) error {
	if a.Generate {
		if err := filterWarnings(s, root, planned, func(s *operation.Session) error { return generateForAPI(ctx, s, root, a.API, planned) }); err != nil {
			return err
		}
	}
	what := "the types and the reconciler"
	if !a.Resource {
		what = "the reconciler and its permissions"
	}
	s.Handler.Handle(report.Note{Text: "Next: edit " + what + ", then run " + generation.Command(s, root)})
	return noteConversion(s, root, a.API)
}

// generateForAPI generates for a new API. Apply configurations come first, since the controller imports them.
func generateForAPI(ctx context.Context, s *operation.Session, root string, api scaffold.API, planned *scaffold.Plan) error {
	if api.SSA {
		if err := generateApplyConfigurations(ctx, s, root, api); err != nil {
			return err
		}
	}
	return generation.GenerateAfter(ctx, s, root, planned)
}

func generateApplyConfigurations(ctx context.Context, s *operation.Session, root string, api scaffold.API) error {
	file, err := scaffold.ReadProject(s.Folder(root))
	if err != nil {
		return err
	}
	r := file.Lookup(api.Group, api.Version, api.Kind)
	if r == nil {
		return nil
	}
	license, err := s.Codebase(root).License()
	if err != nil {
		return err
	}
	options := ""
	if license.File != "" {
		options = "headerFile=" + strconv.Quote(license.File)
	}
	methods := generate.Use{Name: "object", Options: options}
	if license.Year != "" {
		methods.Options += ",year=" + strconv.Quote(license.Year)
	}
	whole, _, err := regenerate.PlanFor(root, s.Codebase(root))
	if err != nil {
		return err
	}
	plan := whole.Over([]string{"./" + file.APIDir(*r)},
		methods, generate.Use{Name: "applyconfiguration", Options: options})
	result, err := generation.RunPlan(ctx, s, root, plan, generate.Options{Cache: generation.RunsFolder(s)})
	if err == nil {
		generation.ReportRun(s, root, result)
	}
	return err
}

// noteConversion notes that the new version of a kind has no conversion though the others have one. The manager would
// not start.
func noteConversion(s *operation.Session, root string, api scaffold.API) error {
	p, err := scaffold.ReadProject(s.Folder(root))
	if err != nil {
		return err
	}
	for _, hub := range p.Resources {
		if hub.Group != api.Group || hub.Kind != api.Kind || hub.Version == api.Version || hub.Webhooks == nil || !hub.Webhooks.Conversion || slices.Contains(hub.Webhooks.Spoke, api.Version) {
			continue
		}
		s.Handler.Handle(report.Note{Text: fmt.Sprintf(
			"The versions of %s have a conversion, but %s has none yet: the manager does not start without it.\n  try:   slipway create webhook --group %s --version %s --kind %s --conversion --spoke %s",
			api.Kind, api.Version, shellword.Quote(hub.Group), hub.Version, hub.Kind, api.Version)})
	}
	return nil
}
