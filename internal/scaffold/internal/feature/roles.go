package feature

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
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
	file := generation.RoleFile()
	c, err := p.Find(file)
	if err != nil {
		return role, binding, err
	}
	for _, o := range rolesIn(c.After()) {
		if o.Kind == "ClusterRole" {
			role = o.Metadata.Name
			break
		}
	}
	for _, name := range p.besides(file) {
		c, err := p.Find(name)
		if err != nil {
			return role, binding, err
		}
		for _, o := range rolesIn(c.After()) {
			if o.Kind == "ClusterRoleBinding" && o.RoleRef.Name == role {
				return role, o.Metadata.Name, nil
			}
		}
	}
	return role, binding, nil
}

// besides are the files in which the binding of a role may be: those of its folder, and of the one that layouts have.
func (p *planner) besides(role string) (files []string) {
	for _, folder := range slices.Compact([]string{path.Dir(role), path.Dir(manager.RoleBindingFile)}) {
		entries, _ := os.ReadDir(filepath.Join(p.Root(), filepath.FromSlash(folder))) // without one, nothing binds the role
		for _, entry := range entries {
			if path.Ext(entry.Name()) == ".yaml" {
				files = append(files, path.Join(folder, entry.Name()))
			}
		}
	}
	return files
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
func rolesIn(src []byte) (all []permission) {
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var o permission
		if decoder.Decode(&o) != nil {
			return all
		}
		if plainName().MatchString(o.Metadata.Name) {
			all = append(all, o)
		}
	}
}
