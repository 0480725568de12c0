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

// Project returns the PROJECT file as it is written, or nil without one. All callers share the value: a command that
// changes it uses [Codebase.Described]. The error for a mistake in the file is a [*project.FieldError].
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

// ProjectName returns the project's name. Versions 1 and 2 of PROJECT do not record it: there it is the name prefix of
// config/default. Otherwise, and without PROJECT, it is the last element of the module's path.
func (c *Codebase) ProjectName() string {
	file, err := c.project()
	if err != nil {
		return ""
	}
	if file == nil {
		return lastPathElement(c.modulePath())
	}
	if !file.IsV2() {
		return file.Name
	}
	deployed, _ := c.view.ReadFile(c.KustomizationFor(DeployedFolder)) // an unreadable file has no prefix
	if prefix := namePrefix().FindSubmatch(deployed); prefix != nil {
		return string(prefix[1])
	}
	return lastPathElement(file.Repo)
}

// lastPathElement returns the last element of a module's path without its version suffix, or "".
func lastPathElement(modulePath string) string {
	prefix, _, ok := module.SplitPathVersion(modulePath)
	if !ok || prefix == "" {
		return ""
	}
	return path.Base(prefix)
}

var namePrefix = lazy.Regexp(`(?m)^namePrefix:\s*"?([a-z0-9]+(?:-[a-z0-9]+)*)-?"?\s*$`)

// Described returns a copy of [Codebase.Project] that follows the code where the two differ. The code decides the
// module's path, the folders and groups of moved types, and the folders of controllers and webhooks. For PROJECT
// version 2, it adds what that version does not record.
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
			fillV2Entry(r, k, controllers)
		}
		if !file.Own(*r) {
			continue
		}
		if k != nil && k.Package.Dir != file.APIDir(*r) {
			r.Path = path.Join(file.Repo, k.Package.Dir)
		}
		*r = r.InAPIGroup(c.Package(file.APIDir(*r)).Group)
		if file.IsV2() {
			r.Webhooks = webhooksInCode(*r, webhooks)
		}
	}
	file.Folders = folders(file, controllers, webhooks)
	return file, nil
}

// inModule replaces the module's path in file by that of go.mod. PROJECT often keeps the path of an earlier major
// version.
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

// fillV2Entry adds what version 2 of PROJECT does not record: scope and plural, the controller, and core kinds.
func fillV2Entry(r *project.Resource, types *Kind, controllers []Controller) {
	domain, core := project.CoreDomain(r.Group)
	switch {
	case types == nil && core: // of Kubernetes itself
		r.API, r.Core, r.Domain, r.Path = nil, true, domain, project.CorePath(r.Group, r.Version)
	case types != nil:
		r.API.Namespaced, r.Plural = !types.Cluster, types.Plural
	}
	r.Controller = slices.ContainsFunc(controllers, func(c Controller) bool { return c.Type == r.Kind+"Reconciler" })
}

// webhooksInCode returns the webhooks of a kind that the code declares, or nil.
func webhooksInCode(r project.Resource, webhooks []Webhook) *project.Webhooks {
	has := func(mutating bool) bool {
		return slices.ContainsFunc(webhooks, func(w Webhook) bool { return w.Path == WebhookPath(r, mutating) })
	}
	found := project.Webhooks{WebhookVersion: "v1", Defaulting: has(true), Validation: has(false)}
	if !found.Defaulting && !found.Validation {
		return nil
	}
	return &found
}
