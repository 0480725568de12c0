package feature

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// hasConfig reports whether the project has the configuration that features are lines of, or the base that it is made
// on.
func (p *planner) hasConfig() (bool, error) {
	there, err := p.Exists(defaultConfig)
	if err != nil || there {
		return there, err
	}
	return p.Exists(baseConfig)
}

// requireConfig refuses a feature in a project that is deployed from other folders than config: a new kustomization
// there would consist of the feature alone.
func (p *planner) requireConfig(f Feature) error {
	if !f.Deployed() {
		return nil
	}
	if there, err := p.hasConfig(); err != nil || there {
		return err
	}
	refused := &report.Error{
		What: fmt.Sprintf("%s is a line of %s, which does not exist", f, defaultConfig), Where: path.Dir(defaultConfig), Err: deployedOtherwise(f),
		Hint: "nothing was changed; features are for projects that are deployed from config/",
	}
	p.notFromConfig(refused)
	return refused
}

// notFromConfig has a refusal name the Deployment of a project that is not deployed from config, if it has one: to move
// it would break what deploys it.
func (p *planner) notFromConfig(refused *report.Error) {
	file, found := p.deploymentOutside()
	if file == "" {
		return
	}
	refused.Where = report.Position{File: file, Line: found.Metadata.Name.Line}.String()
	refused.Hint = fmt.Sprintf("nothing was changed; the project deploys %s from here, and features are for projects that are deployed from config/: "+
		"add what you need to %s by hand", found.Metadata.Name.Value, path.Dir(file))
}

// mostManifests bounds how many files are looked at for a Deployment.
const mostManifests = 5000

// deploymentOutside is the manager's Deployment in a folder outside of config: one with a container that is called like
// a manager, or whose name is the project's. What cannot be read has none.
func (p *planner) deploymentOutside() (file string, found manifest) {
	p.eachManifest(func(name string, src []byte) bool {
		m, ok := firstDeployment(src)
		if ok = ok && p.ofManager(m); ok {
			file, found = name, m
		}
		return !ok
	})
	return file, found
}

// eachManifest calls visit with files of YAML outside of config, until it returns false.
func (p *planner) eachManifest(visit func(name string, src []byte) bool) {
	seen := 0
	_ = fs.WalkDir(os.DirFS(p.Root()), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && name != "." && (sourcefolder.WithoutConfiguration(d.Name()) || d.Name() == "config"):
			return fs.SkipDir
		case !d.Type().IsRegular() || path.Ext(name) != ".yaml" && path.Ext(name) != ".yml":
			return nil
		}
		data, err := finite.ReadFile(filepath.Join(p.Root(), filepath.FromSlash(name)))
		if seen++; seen > mostManifests || err == nil && !visit(name, data) {
			return fs.SkipAll
		}
		return nil
	})
}

// ofManager reports whether a Deployment is the manager's, by its names.
func (p *planner) ofManager(m manifest) bool {
	return m.Metadata.Name.Value == p.project.Name || m.hasContainer(OwnDeployment("").Container)
}
