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

// A role grants users access to a kind. Aggregate is the role of Kubernetes to which it is added.
type role struct{ name, does, verbs, aggregate string }

var roles = [...]role{
	{"admin", "administer", `"*"`, "admin"},
	{"editor", "change", "create, delete, get, list, patch, update, watch", "edit"},
	{"viewer", "look at", "get, list, watch", "view"},
}

func (a *planner) planRoles() error {
	// Another version of the kind has the same roles, and its authors decided whether they are deployed.
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

func (a *planner) roleData(of role) map[string]any {
	data := a.data()
	data["RoleVerb"], data["RoleVerbs"], data["Aggregate"] = of.does, of.verbs, of.aggregate
	data["RoleName"] = strings.NewReplacer("_", "-", ".", "-").Replace(a.project.RolePrefix(a.resource)) + "-" + of.name + "-role"
	return data
}

// roleOff reports whether a role is not to be deployed. Either the list has it in a comment, as kubebuilder advises
// there for unwanted roles, or another tool made it and did not list it.
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

// hasRole reports whether a folder has the kind's role under the file name of the layout for one group. It is false for
// a plan that records.
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
