package newwebhook

import (
	"errors"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// AnswerOldPaths plans that the webhooks of a hub answer at the paths of a version that had them, too. Without that,
// calls fail as long as managers of both releases run. Markers are those by which the API server goes on to ask there.
// The plan's [plan.Plan.Left] has the place of webhooks that do not answer.
func AnswerOldPaths(p *plan.Plan, file *project.Project, hub, old project.Resource, markers []string) error {
	w, err := newPlanner(p, file, Options{Group: hub.Group, Version: hub.Version, Kind: hub.Kind, Conversion: true})
	if err != nil {
		return err
	}
	o := piece.OldPaths{Kind: hub.Kind, Version: old.Version}
	moves, err := w.movesPaths(o)
	if refusal, is := errors.AsType[*report.Error](err); is {
		w.Leave(refusal.Where + ": " + refusal.What + ", so no manager of the new release answers at the paths of " + old.Version +
			". Calls fail for some seconds while managers of both releases run. --storage=false leaves the webhooks where they are; slipway upgrade --from REVISION shows the gap")
		return nil
	}
	if err != nil || !moves {
		return err
	}
	return w.planOldPaths(old, markers)
}

// movesPaths reports whether webhooks have paths that moved with the version. Its error is for the user.
func (w *planner) movesPaths(o piece.OldPaths) (bool, error) {
	if w.besideTypes() {
		return false, &report.Error{Class: report.BadProject, What: "webhooks in the package of the types cannot import " + o.Version, Where: w.project.WebhookFile(w.resource)}
	}
	file := w.setupFile()
	c, err := w.Find(file)
	if err == nil && !c.There() {
		err = &report.Error{Class: report.BadProject, What: "no function " + w.setupName() + " sets up the webhooks", Where: path.Dir(file)}
	}
	if err != nil {
		return false, err
	}
	return o.Moves(file, c.After())
}

// setupFile is the file with the function that sets up the webhooks.
func (w *planner) setupFile() string {
	for _, file := range w.Code().GoFilesIn(w.project.WebhookDir(w.resource)) {
		if text, err := w.Code().View().ReadFile(file); err == nil && gofile.Declares(text, w.setupName()) != "" {
			return file
		}
	}
	return w.project.WebhookFile(w.resource)
}

// OldPathsFile is the file in which the webhooks of a hub answer at the paths of another version.
func OldPathsFile(file *project.Project, hub, old project.Resource) string {
	return path.Join(file.WebhookDir(hub), hub.SingularName()+"_"+old.Version+"_webhook.go")
}

// planOldPaths plans that file, and its call in the function that sets up the webhooks.
func (w *planner) planOldPaths(old project.Resource, markers []string) error {
	file, call := OldPathsFile(w.project, w.resource, old), piece.OldPaths{Kind: w.resource.Kind, Version: old.Version}
	data := map[string]any{
		"Boilerplate": w.header, "Package": w.resource.Version, "Kind": w.resource.Kind, "Version": old.Version, "Typed": w.versions.TypedWebhooks(),
		"HubAlias": w.resource.ImportAlias(), "HubPath": w.project.ImportPath(w.resource), "OldAlias": old.ImportAlias(), "OldPath": w.project.ImportPath(old),
		"Setup": call.Call(), "Markers": markers, "Type": kind.Variable(w.resource) + strings.ToUpper(old.Version[:1]) + old.Version[1:] + "Webhooks",
	}
	if err := w.RequireFrom("webhook/oldpaths.go", file, data); err != nil {
		return err
	}
	return w.Insert(w.setupFile(), plan.These(call))
}

// recordOldPaths records the old paths at which the project's webhooks answer. A deletion may take any, and leaves
// those of spokes whose objects webhooks are asked about.
func (w *planner) recordOldPaths() error {
	versions := w.otherVersions()
	if w.NamesOnly() {
		if versions = w.spokes; !w.options.Defaulting && !w.options.Validation {
			return nil
		}
	}
	for _, old := range versions {
		if err := w.recordOldPathsOf(old); err != nil {
			return err
		}
	}
	return nil
}

func (w *planner) recordOldPathsOf(old project.Resource) error {
	there, err := fileview.Exists(w.Code().View(), OldPathsFile(w.project, w.resource, old))
	if err != nil || !there {
		return err
	}
	return w.planOldPaths(old, nil)
}

// RecordOldPaths records that the webhooks of a hub answer at the paths of another version, if they do.
func RecordOldPaths(p *plan.Plan, file *project.Project, hub, old project.Resource) error {
	w, err := recorder(p, file, hub)
	if err != nil {
		return err
	}
	return w.recordOldPathsOf(old)
}
