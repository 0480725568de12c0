package feature

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/report"
)

// requireExpected refuses a project in which the feature's files would do nothing, or belong nowhere: those without the
// manager's Deployment where features read its name and labels, and those whose kustomization sets no namespace.
func (p *planner) requireExpected(f Feature) error {
	for _, check := range []func(Feature) error{p.requireConfig, p.requireNoOther} {
		if err := check(f); err != nil {
			return err
		}
	}
	if foreign, err := p.foreign(f); err != nil || foreign && !f.patchesDeployment() {
		return err // the project has the feature's files, with its own names
	}
	if f == Namespaced {
		if err := p.requireNamespaced(); err != nil {
			return err
		}
	}
	if f.namesDeployment() {
		if err := p.requireDeployment(f); err != nil {
			return err
		}
	}
	if f.inNamespace() {
		return p.requireNamespace(f)
	}
	return nil
}

// requireDeployment refuses a project without a Deployment where features expect it: their patches would find nothing,
// and their selectors no pods.
func (p *planner) requireDeployment(f Feature) error {
	own, _, err := p.manager()
	if err != nil || own == managerFile || own != "" && f != WebhookServer {
		return err
	}
	c, err := p.Find(managerFile)
	if err != nil {
		return err
	}
	refused := &report.Error{
		What: fmt.Sprintf("%s needs the manager's Deployment in %s, which has none", f, managerFile), Where: managerFile, Err: deployedOtherwise(f),
		Hint: "nothing was changed; move the Deployment into this file, and run the command again",
	}
	if !c.There() {
		refused.What, refused.Where = fmt.Sprintf("%s needs the manager's Deployment in %s, which does not exist", f, managerFile), path.Dir(managerFile)
	}
	file, found, err := p.deploymentElsewhere()
	if err != nil {
		return err
	}
	if name := found.Metadata.Name; file == "" {
		p.notFromConfig(refused)
	} else {
		refused.Where = fmt.Sprintf("%s:%d", file, name.Line)
		refused.Hint = fmt.Sprintf("nothing was changed; the Deployment %s is here: move it into %s, with the line in %s/kustomization.yaml, and run the command again", name.Value, managerFile, path.Dir(managerFile))
	}
	return refused
}

// deployedOtherwise is why a feature is refused, where code can do without it.
func deployedOtherwise(f Feature) error {
	if f == WebhookServer {
		return ErrDeployedOtherwise
	}
	return nil
}

// deploymentElsewhere is the first Deployment in another folder for the manager, or in another file of that folder.
func (p *planner) deploymentElsewhere() (file string, found manifest, err error) {
	err = fs.WalkDir(os.DirFS(p.Root()), "config", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || d.IsDir() || path.Base(path.Dir(name)) != path.Base(path.Dir(managerFile)):
			return err
		case path.Ext(name) != ".yaml" && path.Ext(name) != ".yml":
			return nil
		}
		c, err := p.Find(name)
		if err != nil {
			return err
		}
		if m, ok := firstDeployment(c.After()); ok {
			file, found = name, m
			return fs.SkipAll
		}
		return nil
	})
	return file, found, err
}

// placeholder is the namespace that the files of features and of kubebuilder's manager name, for kustomize to replace.
const placeholder = "system"

// requireNamespace refuses a project whose kustomization sets no namespace: the feature's objects would be in the one
// called system, and the manager in another.
func (p *planner) requireNamespace(f Feature) error {
	c, err := p.Find(defaultConfig)
	if err != nil {
		return err
	}
	var kustomization struct{ Namespace string }
	if yaml.Unmarshal(c.After(), &kustomization) != nil || kustomization.Namespace != "" {
		return nil // kustomize reports what cannot be read
	}
	file, found, err := p.manager()
	if err != nil || file == "" || found.Metadata.Namespace.Value == placeholder {
		return err
	}
	namespace := cmp.Or(found.Metadata.Namespace.Value, p.project.Name+"-system")
	refused := &report.Error{
		What: fmt.Sprintf("%s has objects for the manager's namespace, which this kustomization does not set", f), Where: defaultConfig,
		Hint: fmt.Sprintf("nothing was changed; expected this line, as the Deployment %s (%s:%d) has it, to give it to all objects; then run the command again:\nnamespace: %s",
			found.Metadata.Name.Value, file, found.Metadata.Name.Line, namespace),
	}
	moved, err := p.moved(namespace)
	if err != nil {
		return err
	}
	if len(moved) > 0 {
		refused.Hint = fmt.Sprintf("nothing was changed; the line namespace: %s is missing, and would move these out of their namespaces: %s; "+
			"first move them to a kustomization that lists them beside this one", namespace, strings.Join(moved, ", "))
	}
	return refused
}

// patchesDeployment reports whether the feature's files change the manager's Deployment.
func (f Feature) patchesDeployment() bool {
	return !slices.Contains([]Feature{Prometheus, Alerts, Dashboard, NetworkPolicy, Egress, Policies, EndToEnd, Workflow}, f)
}

// namesDeployment reports whether the feature's files name the manager's Deployment, or select its pods.
func (f Feature) namesDeployment() bool {
	return f.Deployed() && f != Dashboard && f != Policies
}

// inNamespace reports whether the feature has objects in the manager's namespace.
func (f Feature) inNamespace() bool {
	return f.Deployed() && !slices.Contains([]Feature{PProf, Tracing, Policies, Namespaced}, f)
}
