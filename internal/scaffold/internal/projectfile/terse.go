package projectfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/project"
)

// completeName gives a project the name that versions 1 and 2 of PROJECT do not record: the prefix of what is deployed,
// else the end of the module's path.
func completeName(root string, file *project.Project) error {
	if !file.Terse() {
		return nil
	}
	deployed, err := text(root, codebase.Read(fileview.Disk(root), os.Getenv).KustomizationFor(codebase.DeployedFolder))
	if err != nil {
		return err
	}
	if prefix := namePrefix().FindSubmatch(deployed); prefix != nil {
		file.Name = string(prefix[1])
		return nil
	}
	repo, _, ok := module.SplitPathVersion(file.Repo)
	if ok && repo != "" {
		file.Name = path.Base(repo)
	}
	return nil
}

var namePrefix = lazy.Regexp(`(?m)^namePrefix:\s*"?([a-z0-9]+(?:-[a-z0-9]+)*)-?"?\s*$`)

// complete adds to the kinds of a PROJECT file of version 2 what that version does not record and the project's files
// show: which kinds have types, a controller and webhooks, and whether their objects are namespaced.
func complete(root string, code *codebase.Codebase, file *project.Project) error {
	if !file.Terse() {
		return nil
	}
	for i := range file.Resources {
		if err := completeKind(root, code, file, &file.Resources[i]); err != nil {
			return err
		}
	}
	return nil
}

func completeKind(root string, code *codebase.Codebase, file *project.Project, r *project.Resource) error {
	types := code.KindOf(*r)
	domain, core := project.CoreDomain(r.Group)
	switch {
	case types == nil && core: // of Kubernetes itself
		r.API, r.Core, r.Domain, r.Path = nil, true, domain, project.CorePath(r.Group, r.Version)
	case types != nil:
		r.API.Namespaced, r.Plural = !types.Cluster, types.Plural
	}
	controller, err := text(root, file.ControllerFile(*r))
	if err != nil {
		return err
	}
	controllers, err := code.Controllers()
	if err != nil {
		return err
	}
	r.Controller = controller != nil || slices.ContainsFunc(controllers, func(c codebase.Controller) bool { return c.Type == r.Kind+"Reconciler" })
	webhooks, err := text(root, file.WebhookFile(*r))
	r.Webhooks = webhooksIn(webhooks)
	return err
}

// What code has of a kind's webhooks. A webhook is declared as a type of its own or as methods of
// the kind.
var (
	defaulter = lazy.Regexp(`(?m)^func \([^)]*\) Default\(`)
	validator = lazy.Regexp(`(?m)^func \([^)]*\) ValidateCreate\(`)
)

// webhooksIn are the webhooks in the code of a kind's, or nil.
func webhooksIn(code []byte) *project.Webhooks {
	found := project.Webhooks{WebhookVersion: "v1", Defaulting: defaulter().Match(code), Validation: validator().Match(code)}
	if !found.Defaulting && !found.Validation {
		return nil
	}
	return &found
}

// text is a file's content, or nil without one.
func text(root, name string) ([]byte, error) {
	data, err := finite.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileerror.Unreadable(name, err)
	}
	return data, nil
}
