package newapi

import (
	"path"
	"regexp"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
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
	if decided, err := a.rolesDecided(); err != nil || decided {
		return err
	}
	folder, list, prefix := a.rolesFolder()
	if list == "" {
		return a.leaveRoles(folder)
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
	return a.PutIfPlaced(list, plan.These(listed...), lines.String())
}

// roleData is what the template of a role is filled from.
func (a *planner) roleData(of role) map[string]any {
	data := a.data()
	data["RoleVerb"], data["RoleVerbs"], data["Aggregate"] = of.does, of.verbs, of.aggregate
	data["RoleName"] = strings.NewReplacer("_", "-", ".", "-").Replace(a.project.RolePrefix(a.resource)) + "-" + of.name + "-role"
	return data
}

// rolesDecided reports whether the roles are as the authors of another version of the kind, which have the same, want
// them: deployed, made and not deployed, or left out.
func (a *planner) rolesDecided() (bool, error) {
	if a.Recording() {
		return false, nil
	}
	return kind.HasOtherVersion(a.Plan, a.project, a.resource)
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
