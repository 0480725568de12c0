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

// A Deployment is that of a manager, as it is built: with the prefix, the namespace and the patches of what is
// deployed.
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
	// Written is the Deployment where the project writes it, or nil.
	Written *Written
}

// A Container is what is read of one.
type Container struct {
	Name, Image   string
	Command, Args []string
	Env           []Variable
	Ports         []struct {
		Name          string
		ContainerPort int
	}
}

// A Variable is one of a container's environment. One whose value is that of a field or another object has ValueFrom.
type Variable struct {
	Name, Value string
	ValueFrom   *struct {
		FieldRef *struct{ FieldPath string }
	}
}

// Container is the manager's.
func (d Deployment) Container() Container { return d.Spec.Template.Spec.Containers[d.Manager] }

const (
	ownImage       = "controller" // what layouts call the image that the project builds
	usualContainer = "manager"    // what they call its container
	managerLabel   = "control-plane"

	deploymentKind = "Deployment"
)

// Deployments are those of the project's managers, in the only folder that is deployed. What is fetched is left
// out. A Deployment is a manager's if its container has the image that the
// project builds, or runs the program of that; if none has, those with the label control-plane are, or those
// with a container called manager, or the only one. The error is that the folder is not known, or does not build.
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
	return c.managed(all)
}

// deploymentsIn are all Deployments that a folder builds; none without a kustomization.
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

// asDeployment reads a Deployment that has containers.
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

// managed are those of the managers among Deployments.
func (c *Codebase) managed(all []Deployment) ([]Deployment, error) {
	content, err := c.makefile()
	if err != nil {
		return nil, err
	}
	_, program, err := c.built()
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
