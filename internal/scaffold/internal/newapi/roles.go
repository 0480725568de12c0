package newapi

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// A role gives people access to a kind: what it is called, says and allows, and the role of Kubernetes that gets it.
type role struct{ name, does, verbs, aggregate string }

var roles = [...]role{
	{"admin", "administer", `"*"`, "admin"},
	{"editor", "change", "create, delete, get, list, patch, update, watch", "edit"},
	{"viewer", "look at", "get, list, watch", "view"},
}

// planRoles plans the roles that give people access to the kind.
func (a *planner) planRoles() error {
	// Those of another version of the kind are the same, and as its authors want them: deployed, or left out.
	if !a.Recording() {
		if other, err := kind.HasOtherVersion(a.Plan, a.project, a.resource); err != nil || other {
			return err
		}
	}
	folder, list, prefix := a.rolesFolder()
	if list == "" {
		a.Leave(fmt.Sprintf("%s: no kustomization lists its files, so roles for people who administer, edit and view %s are not made", folder, a.resource.PluralName()))
		return nil
	}
	var listed []plan.Piece
	var lines strings.Builder
	for _, role := range roles {
		has, err := a.hasRole(folder, role.name)
		if err != nil {
			return err
		}
		if has {
			continue
		}
		file := path.Join(folder, path.Base(a.project.RoleFile(a.resource, role.name)))
		off, err := a.roleOff(list, prefix, file)
		if err != nil {
			return err
		}
		if err := a.CreateFrom("api/role.yaml", file, a.roleData(role)); err != nil {
			return err
		}
		if off {
			continue
		}
		listed = append(listed, piece.Item{List: "resources", Name: prefix + path.Base(file)})
		lines.WriteString("- " + prefix + path.Base(file) + "\n")
	}
	return a.InsertIfPlaced(list, plan.These(listed...), lines.String())
}

// roleData is what the template of a role is filled from.
func (a *planner) roleData(of role) map[string]any {
	data := a.data()
	data["RoleVerb"], data["RoleVerbs"], data["Aggregate"] = of.does, of.verbs, of.aggregate
	data["RoleName"] = strings.NewReplacer("_", "-", ".", "-").Replace(a.project.RolePrefix(a.resource)) + "-" + of.name + "-role"
	return data
}

// roleOff reports whether a role is not to be deployed: the list has it in a comment, as kubebuilder's own comment
// there advises for unwanted roles, or another tool made it and it is not listed.
func (a *planner) roleOff(list, prefix, file string) (bool, error) {
	role, err := a.Find(file)
	if err != nil {
		return false, err
	}
	c, err := a.Find(list)
	if err != nil {
		return false, err
	}
	_, ours := a.Base().File(file)
	name := regexp.QuoteMeta(prefix + path.Base(file))
	commented := regexp.MustCompile(`(?m)^\s*#\s*- ` + name + `\s*$`).Match(c.After())
	return commented || role.OnDisk() && !ours && !a.Recording(), nil
}

// hasRole reports whether a folder has a role for the kind under the name that a layout for one group gives it. A plan
// that records needs does not ask.
func (a *planner) hasRole(folder, role string) (bool, error) {
	if a.Recording() || !a.project.MultiGroup {
		return false, nil
	}
	c, err := a.Find(path.Join(folder, path.Base((&project.Project{}).RoleFile(a.resource, role))))
	if err != nil || !c.There() {
		return false, err
	}
	names := func(name string) bool { return bytes.Contains(c.After(), []byte("- "+name+"\n")) }
	return names(a.resource.QualifiedGroup()) && names(a.resource.PluralName()), nil
}
