package feature

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// requireExpected refuses a project in which the feature's files would have no effect. Such a project is not deployed
// from config, has the feature in another folder, lacks the manager's Deployment, or sets no namespace.
func (p *planner) requireExpected(f features.Name) error {
	for _, check := range []func(features.Name) error{p.requireConfig, p.requireNoOther} {
		if err := check(f); err != nil {
			return err
		}
	}
	row := features.Of(f)
	if foreign, err := p.inKubebuilderForm(f); err != nil || foreign && row.Deployment != features.Patches {
		return err // the project has the feature's files, with its own names
	}
	if expects := p.parts(f).expects; expects != nil {
		if err := expects(); err != nil {
			return err
		}
	}
	if row.Deployment != features.Unrelated {
		if err := p.requireDeployment(f); err != nil {
			return err
		}
	}
	if row.Objects {
		return p.requireNamespace(f)
	}
	return nil
}

// requireConfig refuses a feature in a project that is deployed from another folder: a new kustomization would consist
// of the feature alone.
func (p *planner) requireConfig(f features.Name) error {
	file := p.defaultConfig()
	if there, err := p.Exists(file); err != nil || there || !features.Of(f).Deployed() || p.Recording() {
		return err
	}
	return &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf("%s is a line of %s, which does not exist", f, file), Where: codebase.DeployedFolder,
		Hint: "nothing was changed; features are for projects that are deployed from config/: add what you need by hand to what deploys this one",
	}
}

// listedFolder matches a line that lists a folder, in a comment or not.
var listedFolder = lazy.Regexp(`^\s*(#?)\s*- "?([^\s"#]+)"?\s*$`)

// otherFolder finds the line of config/default that lists the feature in a folder of its own, such as
// ../components/certmanager. Its place is "" if there is none, or if the layout's line exists too.
func (p *planner) otherFolder(f features.Name) (place string, is state, err error) {
	c, err := p.Find(p.defaultConfig())
	if err != nil || p.Recording() {
		return "", absent, err
	}
	for i, line := range strings.Split(string(c.After()), "\n") {
		match := listedFolder().FindStringSubmatch(strings.TrimRight(line, "\r"))
		switch {
		case match == nil:
		case match[2] == "../"+string(f):
			return "", absent, nil
		case place == "" && p.Code().Kustomization(path.Join(codebase.DeployedFolder, match[2])) != "":
			if other, ok := features.Parse(path.Base(match[2])); ok && other == f {
				place, is = at(c.Path(), i+1), listed
				if match[1] != "" {
					is = commented
				}
			}
		}
	}
	return place, is, nil
}

// requireNoOther refuses a feature that the project has in another folder: the rest of the project does not know the
// names of a second one.
func (p *planner) requireNoOther(f features.Name) error {
	place, is, err := p.otherFolder(f)
	if err != nil || place == "" {
		return err
	}
	refusal := &report.Error{
		Class: report.Conflict,
		What:  fmt.Sprintf("the project has %s of its own, in the folder that this line lists", f), Where: place,
		Hint: "nothing was changed; a second one in " + features.Of(f).Folder() + " would stand beside it: change the project's own by hand",
	}
	if is == commented {
		refusal.What = fmt.Sprintf("the project has %s of its own, in the folder that this comment names", f)
		refusal.Hint = "nothing was changed; uncomment the line by hand: a second one in " + features.Of(f).Folder() + " would stand beside it"
	}
	return refusal
}

// refuseOther refuses to disable a feature that the project lists in another folder.
func (p *planner) refuseOther(f features.Name) error {
	place, is, err := p.otherFolder(f)
	if err != nil || is != listed {
		return err
	}
	return &report.Error{
		Class: report.Conflict,
		What:  fmt.Sprintf("the project has %s of its own, in the folder that this line lists", f), Where: place,
		Hint: "nothing was changed; remove the line by hand, with what needs it",
	}
}

// requireServable refuses a project that deploys its webhooks with objects of its own: it would have a second server
// beside the first. If config/webhook exists, the authors have decided already.
func (p *planner) requireServable() error {
	if there, err := p.Exists(p.component(features.WebhookServer)); err != nil || there || p.Recording() {
		return err
	}
	if err := p.requireDeployment(features.WebhookServer); err != nil {
		return err
	}
	place, err := p.ownConfiguration()
	if err != nil || place == "" {
		return err
	}
	return &report.Error{
		Class: report.Conflict,
		What:  "the project deploys its webhooks with configurations of its own", Where: place,
		Hint: "nothing was changed; a second server in " + features.Of(features.WebhookServer).Folder() + " would stand beside this one: add the webhook to this file",
	}
}

// webhookConfiguration matches the line by which an object registers webhooks. Patches have it too, but no
// clientConfig.
var webhookConfiguration = lazy.Regexp(`(?m)^kind: (Mutating|Validating)WebhookConfiguration\s*$`)

// ownConfiguration returns the place of a deployed object that registers webhooks, or "".
func (p *planner) ownConfiguration() (place string, err error) {
	files, err := p.After().DeployedFiles(codebase.DeployedFolder)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		c, err := p.Find(f.File)
		if err != nil {
			return "", err
		}
		if at := webhookConfiguration().FindIndex(c.After()); at != nil && bytes.Contains(c.After(), []byte("clientConfig:")) {
			return fmt.Sprintf("%s:%d", f.File, 1+bytes.Count(c.After()[:at[0]], []byte("\n"))), nil
		}
	}
	return "", nil
}

// requireDeployment refuses a project unless config/default certainly deploys exactly one manager. Otherwise patches of
// features would change nothing or the wrong manager, and selectors would match no pod.
func (p *planner) requireDeployment(f features.Name) error {
	deployed, err := p.Code().Deployed()
	if err != nil || p.Recording() {
		return err
	}
	if !p.Code().Builds(deployed, codebase.DeployedFolder) {
		return &report.Error{
			Class: report.BadProject,
			What:  fmt.Sprintf("%s changes what %s deploys, and the Makefile does not deploy that alone", f, codebase.DeployedFolder), Where: fmt.Sprintf("%s:%d", deployed.At.File, deployed.At.Line),
			Hint: "nothing was changed; add what you need by hand to what deploys this project",
		}
	}
	all, err := p.Code().Deployments()
	switch {
	case err != nil:
		return err
	case len(all) > 1:
		return &report.Error{
			Class: report.BadProject,
			What:  fmt.Sprintf("%s is about one manager, and %s deploys several", f, codebase.DeployedFolder), Where: places(all),
			Hint: "nothing was changed; add what you need by hand to the one that it is for",
		}
	case len(all) == 1 && all[0].Written != nil:
		return nil
	}
	return &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf("%s needs the manager's Deployment, and %s does not deploy one that is known", f, codebase.DeployedFolder), Where: p.defaultConfig(),
		Hint: "nothing was changed; list " + managerFile + " there, with a container called manager, and run the command again",
	}
}

// placeholder is the namespace in kubebuilder's manager and in the files of features. Kustomize replaces it.
const placeholder = "system"

// requireNamespace refuses a project whose kustomization sets no namespace: the feature's objects would be in the
// namespace system, and the manager in another one.
func (p *planner) requireNamespace(f features.Name) error {
	c, err := p.Find(p.defaultConfig())
	if err != nil {
		return err
	}
	var kustomization struct{ Namespace string }
	if yaml.Unmarshal(c.After(), &kustomization) != nil || kustomization.Namespace != "" {
		return nil // kustomize reports what cannot be read
	}
	all, err := p.Code().Deployments()
	if err != nil || len(all) != 1 || all[0].Written == nil {
		return err
	}
	found := all[0].Written
	if found.Namespace == placeholder || found.Namespace != all[0].Metadata.Namespace {
		return nil // what deploys config/default sets it
	}
	return &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf("%s has objects for the manager's namespace, which this kustomization does not set", f), Where: c.Path(),
		Hint: fmt.Sprintf("nothing was changed; add the line namespace: %s, if all objects of this kustomization belong there as the Deployment %s does (%s:%d), and run the command again",
			cmp.Or(found.Namespace, p.project.Name+"-system"), found.Name, found.File, found.Line),
	}
}

func places(all []codebase.Deployment) string {
	var places []string
	for _, d := range all {
		if d.Written != nil {
			places = append(places, fmt.Sprintf("%s:%d", d.Written.File, d.Written.Line))
		}
	}
	return strings.Join(places, ", ")
}
