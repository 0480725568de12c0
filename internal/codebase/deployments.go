package codebase

import (
	"context"
	"encoding/json"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/makefile"
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

// A Variable is one of a container's environment. One whose value is that of a field or another object has no Value.
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
)

// Deployments are those of the project's managers, in the only folder that is deployed. Files that are not generated
// yet, and those that are fetched, are left out. A Deployment is a manager's if its container has the image that the
// project builds, or runs the program of that; if none has, those with the label control-plane are, or the only
// Deployment. The error is that the folder is not known, or does not build.
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
	folder := deployed.Folders[0]
	if c.Kustomization(folder) == "" {
		return nil, nil
	}
	objects, err := kustomization.BuildView(context.Background(), c.view, folder, c.present)
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
	return c.managed(all)
}

// asDeployment reads a Deployment that has containers.
func asDeployment(object *unstructured.Unstructured) (d Deployment, ok bool) {
	if kind := object.GroupVersionKind(); kind.Group != "apps" || kind.Kind != "Deployment" {
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
	var own, marked []Deployment
	for _, d := range all {
		containers := d.Spec.Template.Spec.Containers
		runs := slices.IndexFunc(containers, func(container Container) bool {
			name, _, _ := reference.Split(container.Image)
			runs := len(program) > 0 && len(container.Command) > 0 && path.Base(container.Command[0]) == path.Base(program[0])
			return runs || name == ownImage || built != "" && name == built
		})
		d.Manager = max(0, runs)
		if runs < 0 {
			d.Manager = max(0, slices.IndexFunc(containers, func(container Container) bool { return container.Name == usualContainer }))
		}
		if d.Written != nil {
			d.Written.Index = max(0, slices.Index(d.Written.Containers, d.Container().Name))
		}
		if _, labelled := d.Spec.Template.Metadata.Labels[managerLabel]; labelled {
			marked = append(marked, d)
		}
		if runs >= 0 {
			own = append(own, d)
		}
		all[slices.IndexFunc(all, func(o Deployment) bool { return o.Metadata == d.Metadata })] = d
	}
	switch {
	case len(own) > 0:
		return own, nil
	case len(marked) > 0:
		return marked, nil
	case len(all) == 1:
		return all, nil
	}
	return nil, nil
}
