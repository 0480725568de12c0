package codebase

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// A Deployment is a manager's Deployment as kustomize builds it, with the name prefix, the namespace and the patches.
type Deployment struct {
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				ServiceAccountName string
				Containers         []Container
			}
		}
	}
	// Manager is the index of the manager's container.
	Manager int
	// Written is the Deployment as a file of the project has it, or nil if no file is found.
	Written *Written
}

// A Container holds the fields of a container that are read here.
type Container struct {
	Name, Image   string
	Command, Args []string
	Env           []Variable
	Ports         []struct {
		Name          string
		ContainerPort int
	}
}

// A Variable is an environment variable of a container. ValueFrom is nil for a literal value.
type Variable struct {
	Name, Value string
	ValueFrom   *struct {
		FieldRef *struct{ FieldPath string }
	}
}

// Container returns the manager's container.
func (d Deployment) Container() Container { return d.Spec.Template.Spec.Containers[d.Manager] }

const (
	ownImage       = "controller" // the layouts' name of the image that the project builds
	usualContainer = "manager"    // the layouts' name of the manager's container
	managerLabel   = "control-plane"

	deploymentKind = "Deployment"
)

// Deployments returns the managers' Deployments in the only folder that is deployed, without those that kustomize
// fetches. A manager's container runs the image or the program that the project builds. If none does, the Deployments
// with the label control-plane count, then those with a container named manager, then the only one. The error is that
// the folder is unknown or does not build.
func (c *Codebase) Deployments() ([]Deployment, error) { return c.deployments() }

func (c *Codebase) readDeployments() ([]Deployment, error) {
	deployed, err := c.Deployed()
	if err != nil {
		return nil, err
	}
	if len(deployed.Folders) != 1 || deployed.unknown != "" {
		_, err := deployed.Folder()
		return nil, err
	}
	all, err := c.deploymentsIn(deployed.Folders[0])
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return c.managerDeployments(all)
}

// deploymentsIn returns all Deployments that a folder builds, or none for a folder without a kustomization.
func (c *Codebase) deploymentsIn(folder string) ([]Deployment, error) {
	if c.Kustomization(folder) == "" {
		return nil, nil
	}
	objects, err := kustomization.BuildView(context.Background(), c.view, folder, c.deploymentsOnly)
	if unbuilt, ok := errors.AsType[*report.Error](err); ok {
		unbuilt.Hint, unbuilt.Next = "the project's Deployments are not known before it builds", "slipway kustomize build "+shellword.Quote(folder)
	}
	if err != nil {
		return nil, err
	}
	var all []Deployment
	for _, object := range objects {
		if d, ok := asDeployment(object); ok {
			d.Written = c.written(folder, object)
			all = append(all, d)
		}
	}
	return all, nil
}

// asDeployment converts an object. It reports false for another kind, and for a Deployment without containers.
func asDeployment(object *unstructured.Unstructured) (d Deployment, ok bool) {
	if kind := object.GroupVersionKind(); kind.Group != "apps" || kind.Kind != deploymentKind {
		return d, false
	}
	text, err := object.MarshalJSON()
	if err != nil || json.Unmarshal(text, &d) != nil {
		return d, false
	}
	return d, len(d.Spec.Template.Spec.Containers) > 0
}

// managerDeployments returns the managers' Deployments, as [Codebase.Deployments] describes, and sets the indexes of
// their containers.
func (c *Codebase) managerDeployments(all []Deployment) ([]Deployment, error) {
	content, err := c.makefile()
	if err != nil {
		return nil, err
	}
	_, program, err := c.dockerfileProgram()
	if err != nil {
		return nil, err
	}
	built, _, _ := reference.Split(makefile.Value(content, "IMG", c.getenv, c.view))
	runs := func(container Container) bool {
		name, _, _ := reference.Split(container.Image)
		command := len(program) > 0 && len(container.Command) > 0 && path.Base(container.Command[0]) == path.Base(program[0])
		return command || name == ownImage || built != "" && name == built
	}
	isNamed := func(container Container) bool { return container.Name == usualContainer }
	for i := range all {
		d := &all[i]
		containers := d.Spec.Template.Spec.Containers
		if d.Manager = slices.IndexFunc(containers, runs); d.Manager < 0 {
			d.Manager = max(0, slices.IndexFunc(containers, isNamed))
		}
		if d.Written != nil {
			d.Written.Index = max(0, slices.Index(d.Written.Containers, d.Container().Name))
		}
	}
	for _, is := range []func(Deployment) bool{
		func(d Deployment) bool { return runs(d.Container()) },
		func(d Deployment) bool { return d.Spec.Template.Metadata.Labels[managerLabel] != "" },
		func(d Deployment) bool { return isNamed(d.Container()) },
		func(Deployment) bool { return len(all) == 1 },
	} {
		managers := slices.DeleteFunc(slices.Clone(all), func(d Deployment) bool { return !is(d) })
		if len(managers) > 0 {
			return managers, nil
		}
	}
	return nil, nil
}
