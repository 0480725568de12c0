package codebase

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/project"
)

// Project is the project's PROJECT file as it is written, or nil where there is none. The value is shared: who changes
// the project takes the copy of [Codebase.Described]. A mistake in the file is a [*project.FieldError].
func (c *Codebase) Project() (*project.Project, error) { return c.project() }

func (c *Codebase) readProject() (*project.Project, error) {
	data, err := c.view.ReadFile(project.FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return project.Parse(project.FileName, data)
}

// ProjectName is the project's name. Versions 1 and 2 of PROJECT do not record it: there it is the prefix of what is
// deployed. Else, and without PROJECT, it is the end of the module's path.
func (c *Codebase) ProjectName() string {
	file, err := c.project()
	if err != nil {
		return ""
	}
	if file == nil {
		return endOf(c.modulePath())
	}
	if !file.IsV2() {
		return file.Name
	}
	deployed, _ := c.view.ReadFile(c.KustomizationFor(DeployedFolder)) // what cannot be read has no prefix
	if prefix := namePrefix().FindSubmatch(deployed); prefix != nil {
		return string(prefix[1])
	}
	return endOf(file.Repo)
}

// endOf is the last name in a module's path, or "".
func endOf(modulePath string) string {
	prefix, _, ok := module.SplitPathVersion(modulePath)
	if !ok || prefix == "" {
		return ""
	}
	return path.Base(prefix)
}

var namePrefix = lazy.Regexp(`(?m)^namePrefix:\s*"?([a-z0-9]+(?:-[a-z0-9]+)*)-?"?\s*$`)

// Described is a copy of [Codebase.Project] in which the code counts where it says something else than the file: the
// module's path, the folders of types that were moved, their API groups, and the folders of controllers and webhooks.
// Kinds of version 2 have what that version does not record.
func (c *Codebase) Described() (*project.Project, error) {
	file, err := c.readProject()
	if err != nil || file == nil {
		return nil, err
	}
	file.Name = c.ProjectName()
	c.inModule(file)
	controllers, err := c.Controllers()
	if err != nil {
		return nil, err
	}
	webhooks, err := c.Webhooks()
	if err != nil {
		return nil, err
	}
	for i := range file.Resources {
		r := &file.Resources[i]
		k := c.KindOf(*r)
		if file.IsV2() {
			complete(r, k, controllers)
		}
		if !file.Own(*r) {
			continue
		}
		if k != nil && k.Package.Dir != file.APIDir(*r) {
			r.Path = path.Join(file.Repo, k.Package.Dir)
		}
		*r = r.InAPIGroup(c.Package(file.APIDir(*r)).Group)
		if file.IsV2() {
			r.Webhooks = declared(*r, webhooks)
		}
	}
	file.Folders = folders(file, controllers, webhooks)
	return file, nil
}

// inModule has a copy name the module that go.mod names. PROJECT often keeps the path of an earlier major version.
func (c *Codebase) inModule(file *project.Project) {
	from, to := file.Repo, c.modulePath()
	if to == "" || from == "" || to == from {
		return
	}
	for i := range file.Resources {
		r := &file.Resources[i]
		if dir, ok := strings.CutPrefix(r.Path, from+"/"); ok && !strings.HasPrefix(r.Path, to+"/") {
			r.Path = to + "/" + dir
		}
	}
	file.Repo = to
}

// complete adds to a kind of version 2 whether it has types and a controller, and whether its objects are namespaced.
func complete(r *project.Resource, types *Kind, controllers []Controller) {
	domain, core := project.CoreDomain(r.Group)
	switch {
	case types == nil && core: // of Kubernetes itself
		r.API, r.Core, r.Domain, r.Path = nil, true, domain, project.CorePath(r.Group, r.Version)
	case types != nil:
		r.API.Namespaced, r.Plural = !types.Cluster, types.Plural
	}
	r.Controller = slices.ContainsFunc(controllers, func(c Controller) bool { return c.Type == r.Kind+"Reconciler" })
}

// declared are the webhooks that code has of a kind, or nil.
func declared(r project.Resource, webhooks []Webhook) *project.Webhooks {
	has := func(mutating bool) bool {
		return slices.ContainsFunc(webhooks, func(w Webhook) bool { return w.Path == WebhookPath(r, mutating) })
	}
	found := project.Webhooks{WebhookVersion: "v1", Defaulting: has(true), Validation: has(false)}
	if !found.Defaulting && !found.Validation {
		return nil
	}
	return &found
}
