package newapi

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/project"
)

// noteAdopted says of a kind whose types were there, and which PROJECT did not list, what is new besides: its authors
// may have that in their own way, or want the entry alone.
func (a *planner) noteAdopted() error {
	types, err := a.Find(a.types)
	if err != nil || !types.OnDisk() || !a.options.Resource || a.recorded != nil || kind.Foreign(a.resource) {
		return err
	}
	var more []string
	for _, file := range a.Changes() {
		if (file.Action == report.Created || file.Action == report.Updated) && file.Path != project.FileName {
			more = append(more, "  "+string(file.Action)+" "+file.Path)
		}
	}
	if len(more) > 0 {
		a.Leave(fmt.Sprintf("the project had the types of %s, and %s lists the kind now; take back what it has in another way of what this command did besides:\n%s",
			a.resource.Kind, project.FileName, strings.Join(more, "\n")))
	}
	return nil
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
