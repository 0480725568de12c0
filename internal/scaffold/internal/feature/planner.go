package feature

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/header"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
	"github.com/slipway-dev/slipway/project"
)

type planner struct {
	*plan.Plan
	project *project.Project
	header  string
}

// Enable switches features on with those that they need, and writes the missing files of each. Two features issue the
// certificate; enabling one switches the other off.
func Enable(names ...features.Name) func(*plan.Plan, *project.Project) error {
	return func(p *plan.Plan, file *project.Project) error {
		header, err := header.Read(p)
		if err != nil {
			return err
		}
		planner := &planner{Plan: p, project: file, header: header}
		all, err := planner.withNeeds(names)
		if err != nil {
			return err
		}
		for _, f := range features.Names() { // in their order
			if !slices.Contains(all, f) {
				continue
			}
			if err := planner.requireExpected(f); err != nil {
				return err
			}
			if err := planner.enable(f); err != nil {
				return err
			}
		}
		return nil
	}
}

// Disable switches features off. Their configuration stays.
func Disable(names ...features.Name) func(*plan.Plan, *project.Project) error {
	return func(p *plan.Plan, file *project.Project) error {
		planner := &planner{Plan: p, project: file}
		if err := planner.refuseNeeded(names); err != nil {
			return err
		}
		for _, f := range names {
			if err := planner.refuseOther(f); err != nil {
				return err
			}
			if err := planner.noteFolder(f); err != nil {
				return err
			}
			if err := planner.disable(f); err != nil {
				return err
			}
		}
		return errors.Join(planner.withoutNames(names), planner.noteLeft(names), planner.noteIssuer(names), planner.noteConversion(names))
	}
}

// Add switches one feature on. Header is the comment with which the project's Go files begin.
func Add(p *plan.Plan, file *project.Project, header string, f features.Name) error {
	return (&planner{Plan: p, project: file, header: header}).enable(f)
}

// enable writes the missing files of the feature and switches it on.
func (p *planner) enable(f features.Name) error {
	if !features.Of(f).Deployed() {
		return runAll(p.parts(f).code)
	}
	foreign, err := p.inKubebuilderForm(f)
	if err != nil {
		return err
	}
	if foreign {
		return p.enableForeign(f)
	}
	if other := features.Of(f).Excludes; other != "" {
		if err := p.disable(other); err != nil {
			return err
		}
	}
	if err := p.planFeature(f); err != nil {
		return err
	}
	return p.Insert(p.defaultConfig(), plan.These(linesOf(features.Of(f))...))
}

// addMissing writes the missing files of the feature, and switches it on only if it had none: a feature that the user
// switched off stays off.
func (p *planner) addMissing(f features.Name) error {
	there, err := p.Exists(p.component(f))
	if err != nil {
		return err
	}
	if !there || p.Recording() {
		return p.enable(f)
	}
	foreign, err := p.inKubebuilderForm(f)
	switch {
	case err != nil:
		return err
	case foreign && p.parts(f).lines != nil:
		return p.enableForeign(f)
	case foreign:
		return nil
	}
	on, err := p.on(f)
	if err != nil {
		return err
	}
	if !on { // without its code: see withoutCode
		return p.planConfiguration(f)
	}
	return p.planFeature(f)
}

func (p *planner) planFeature(f features.Name) error {
	if err := p.planConfiguration(f); err != nil {
		return err
	}
	return runAll(p.parts(f).code)
}

// planConfiguration plans the files of the feature's component, and their items about this project.
func (p *planner) planConfiguration(f features.Name) error {
	if err := p.planFiles(f); err != nil {
		return err
	}
	return runAll(p.parts(f).items)
}

// disable switches the feature off. Its code goes, unless the user changed it; its configuration stays.
func (p *planner) disable(f features.Name) error {
	if err := p.withoutCode(f); err != nil {
		return err
	}
	if there, err := p.Exists(p.defaultConfig()); err != nil || !there || !features.Of(f).Deployed() {
		return err // the feature is a line of no file
	}
	foreign, err := p.inKubebuilderForm(f)
	if err != nil {
		return err
	}
	if foreign {
		return p.comment(f)
	}
	return p.Edit(p.defaultConfig(), func(file string, src []byte) ([]byte, error) {
		for _, line := range linesOf(features.Of(f)) {
			at := 0
			if src, at = line.Remove(src); at > 0 {
				return nil, &report.Error{
					Class: report.BadProject,
					What:  fmt.Sprintf("the line of %s has other text on it", f), Where: fmt.Sprintf("%s:%d", file, at),
					Hint: "nothing was changed; remove it by hand",
				}
			}
		}
		return src, nil
	})
}

// noteFolder reports that the folder of a disabled component stays.
func (p *planner) noteFolder(f features.Name) error {
	if is, _, err := p.state(features.Of(f).Component()); err != nil || is != listed {
		return err
	}
	if there, err := p.Exists(p.component(f)); err != nil || !there {
		return err
	}
	return p.Keep(p.component(f), features.Of(f).Folder()+" stays; delete it if you do not need it")
}

// planFiles plans the files of the feature's tree of templates.
func (p *planner) planFiles(f features.Name) error {
	names, err := templates.Below(templatesOf(f))
	if err != nil {
		return err
	}
	data := p.deployedData()
	for key, flag := range map[string]string{"WarmUp": "warm-up", "CertPath": "webhook-cert-path"} {
		if data[key], err = p.After().HasFlag(flag); err != nil {
			return err
		}
	}
	if data["OwnManager"], err = p.Exists(manager.FlagsFile); err != nil {
		return err
	}
	if data["Role"], data["RoleBinding"], err = p.roles(); err != nil {
		return err
	}
	listed, err := p.listed(f)
	if err != nil {
		return err
	}
	there, err := p.Exists(p.component(f))
	if err != nil {
		return err
	}
	for _, name := range names {
		if !listed(name) {
			continue
		}
		file := path.Join(features.Of(f).Folder(), name)
		if name == konfig.DefaultKustomizationFileName() {
			file = p.component(f)
		}
		if err := p.RequireFrom(path.Join(templatesOf(f), name), file, data); err != nil {
			return err
		}
	}
	if there || p.Recording() {
		return nil
	}
	return p.requireArguments(f)
}

// listed returns whether the feature's kustomization lists a file. One of an older version may not, and then the file
// would have no use.
func (p *planner) listed(f features.Name) (func(name string) bool, error) {
	c, err := p.Find(p.component(f))
	if err != nil {
		return nil, err
	}
	return func(name string) bool {
		return !c.There() || name == konfig.DefaultKustomizationFileName() || bytes.Contains(c.After(), []byte(name))
	}, nil
}

func (p *planner) data() map[string]any {
	return map[string]any{"Name": p.project.Name, "Repo": p.project.Repo, "Boilerplate": p.header}
}

// deployedData is the data for templates that name the manager's Deployment.
func (p *planner) deployedData() map[string]any {
	data := p.data()
	data["Deployment"] = p.deployment()
	return data
}
