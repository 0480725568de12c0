package feature

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/lazy"
)

// The names of the manager's role, and of what binds it, where the project does not say otherwise.
const (
	usualRole    = "manager-role"
	usualBinding = "manager-rolebinding"
)

// roles are the names of the role that is generated for the manager, and of the binding that gives it to the manager.
func (p *planner) roles() (role, binding string, err error) {
	role, binding = usualRole, usualBinding
	generation, err := p.Code().Generation()
	if err != nil {
		return role, binding, err
	}
	c, err := p.Find(generation.RoleFile())
	if err != nil {
		return role, binding, err
	}
	for _, o := range rolesIn(c.After()) {
		if o.Kind == "ClusterRole" {
			role = o.Metadata.Name
			break
		}
	}
	files, err := p.After().DeployedFiles(codebase.DeployedFolder)
	for _, f := range files {
		c, err := p.Find(f.File)
		if err != nil {
			return role, binding, err
		}
		for _, o := range rolesIn(c.After()) {
			if o.Kind == "ClusterRoleBinding" && o.RoleRef.Name == role {
				return role, o.Metadata.Name, nil
			}
		}
	}
	return role, binding, err
}

// permission is what is read of a role, or of a binding.
type permission struct {
	Kind     string
	Metadata struct{ Name string }
	RoleRef  struct{ Name string } `yaml:"roleRef"`
}

// plainName matches the names that stand for themselves in YAML: a repository may have any.
var plainName = lazy.Regexp(`^[A-Za-z]([\w.:-]*\w)?$`)

// rolesIn are the objects of a file, up to what cannot be read. One whose name is not plain is left out.
func rolesIn(src []byte) []permission {
	return slices.DeleteFunc(documents[permission](src), func(o permission) bool { return !plainName().MatchString(o.Metadata.Name) })
}
