package codebase

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/kustomization"
)

const rbacGroup = "rbac.authorization.k8s.io"

// roleObject holds the fields of roles and bindings that are read here.
type roleObject struct {
	Metadata        struct{ Name string }
	AggregationRule *struct{}
	Rules           []struct {
		APIGroups, Resources, Verbs []string
	}
	RoleRef struct{ Kind, Name string }
}

// Granted returns the permissions that bindings give to any account, in the deployed folder and in other folders that
// can be deployed or added. Roles that are generated from markers are left out. Known is false if more may be granted:
// by a folder that does not build, by other commands of the target deploy, or by a binding of an unknown or aggregated
// role, such as cluster-admin.
func (c *Codebase) Granted() (granted []source.Permission, known bool) {
	deployed, err := c.Deployed()
	if err != nil || len(deployed.Also) > 0 {
		return nil, false
	}
	folder, err := deployed.Folder()
	if err != nil || c.Kustomization(folder) == "" {
		return nil, false
	}
	all, err := c.Config()
	if err != nil {
		return nil, false
	}
	found := roles{permissions: map[string][]source.Permission{}}
	if !c.addRoles(&found, folder) {
		return nil, false
	}
	for _, other := range all.Folders() {
		if !slices.Contains(all.Parts(folder), other) && len(all.ListedBy(other)) == 0 && c.mayBind(all, other) && !c.addRoles(&found, other) {
			return nil, false
		}
	}
	for _, name := range found.bound {
		permissions, is := found.permissions[name]
		if !is {
			return nil, false
		}
		granted = append(granted, permissions...)
	}
	return granted, true
}

// roles collects what folders build. Both fields identify a role as "Kind/name".
type roles struct {
	permissions map[string][]source.Permission
	bound       []string
}

// mayBind reports whether a folder builds from a file that may contain a binding. Samples do not count, nor do folders
// that fetch something: those deploy another project.
func (c *Codebase) mayBind(all *Kustomizations, folder string) bool {
	if IsSamples(folder) || all.Elsewhere(folder) {
		return false
	}
	for name := range all.reachableFiles(folder) {
		if text, err := c.view.ReadFile(name); err == nil && bytes.Contains(text, []byte("RoleBinding")) {
			return true
		}
	}
	return false
}

// addRoles adds the roles and bindings that a folder builds. It reports false if the folder does not build.
func (c *Codebase) addRoles(to *roles, folder string) bool {
	made, err := c.Generation()
	if err != nil {
		return false
	}
	generated := made.RoleFiles()
	objects, err := kustomization.BuildView(context.Background(), c.view, folder, func(name string, text []byte) ([]byte, error) {
		if slices.Contains(generated, name) {
			return withoutRules(text), nil
		}
		return text, nil
	})
	if err != nil {
		return false
	}
	for _, object := range objects {
		if object.GroupVersionKind().Group != rbacGroup {
			continue
		}
		var o roleObject
		text, err := object.MarshalJSON()
		if err != nil || json.Unmarshal(text, &o) != nil {
			return false
		}
		switch kind := object.GetKind(); {
		case kind == "Role", kind == "ClusterRole" && o.AggregationRule == nil:
			name := object.GetKind() + "/" + o.Metadata.Name
			to.permissions[name] = append(to.permissions[name], o.permissions()...)
		case kind == "RoleBinding", kind == "ClusterRoleBinding":
			to.bound = append(to.bound, o.RoleRef.Kind+"/"+o.RoleRef.Name)
		}
	}
	return true
}

// permissions returns the role's permissions. The first entry is empty, so that a known role without rules has one.
func (o roleObject) permissions() []source.Permission {
	all := []source.Permission{{}}
	for _, rule := range o.Rules {
		all = append(all, source.Permission{Groups: rule.APIGroups, Resources: rule.Resources, Verbs: rule.Verbs})
	}
	return all
}

// withoutRules removes the rules from the text of generated roles.
func withoutRules(text []byte) []byte {
	var kept []byte
	inRules := false
	for line := range bytes.Lines(text) {
		begins := len(bytes.TrimSpace(line)) > 0 && line[0] != ' ' && !bytes.HasPrefix(line, []byte("- "))
		if begins {
			inRules = bytes.HasPrefix(line, []byte("rules:"))
		}
		if !inRules {
			kept = append(kept, line...)
		}
	}
	return kept
}
