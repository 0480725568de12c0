package rbac

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/internal/yaml"
	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/report"
)

// Options are the generator's options.
type Options struct {
	// RoleName is the name of the roles whose markers do not name one.
	RoleName string `doc:"is the name of roles whose markers name none"`
	// FileName is the manifest's name, role.yaml unless set.
	FileName string `marker:"fileName,optional" doc:"is the name of the manifest; role.yaml if it is left out"`
	// HeaderFile is a file with the text that the manifest begins with.
	HeaderFile string `marker:"headerFile,optional" doc:"is the file with name a file with the first lines of generated files"`
	// Year replaces YEAR in it.
	Year string `marker:"year,optional" doc:"replaces YEAR in that text"`
}

// permission is the value of a marker.
type permission = source.Permission

// Generator is the generator "rbac".
func Generator() generator.Generator {
	markers := marker.In("RBAC",
		source.PermissionDefinition(),
	)
	g := generator.New("rbac", "writes the role that gives the manager its permissions", markers, run)
	g.Noted = true
	return g
}

func run(_ context.Context, pass *generator.Pass, options Options) error {
	if options.RoleName == "" {
		pass.Report(report.Finding{Rule: report.RulePermissionMarker, Message: "the option roleName is missing: it names the role of markers without a roleName of their own", Suggestion: "rbac:roleName=manager-role"})
	}
	header, err := pass.Header(options.HeaderFile, options.Year)
	if err != nil {
		return err
	}
	permissions, ok := permissionsIn(pass)
	if len(permissions) == 0 || !ok {
		return nil
	}
	roles := rolesOf(permissions, options.RoleName, pass.Loader.Edition().Roles)
	if len(roles) == 0 {
		return nil
	}
	content := []byte(header)
	for _, r := range roles {
		document, err := sigsyaml.Marshal(r.object())
		if err != nil {
			return err
		}
		content = append(append(content, "---\n"...), document...)
	}
	pass.Config(cmp.Or(options.FileName, "role.yaml"), content)
	return nil
}

// permissionsIn are the permissions that the packages ask for. They are not ok if a manifest cannot hold one of them.
func permissionsIn(pass *generator.Pass) (all []permission, ok bool) {
	ok = true
	for _, root := range pass.Roots {
		for _, value := range root.Markers() {
			p, is := value.Data.(permission)
			if !is {
				continue
			}
			if e := pass.Loader.Edition(); e.Roles.Split && !e.Roles.KeepURLs && len(p.Resources) == 0 {
				pass.Report(report.Finding{Rule: report.RulePermissionMarker, Position: pass.Loader.Position(value.Pos), Message: "+" + source.PermissionMarker + " without resources has no effect in controller-gen " + e.Version,
					Suggestion: "pin v0.16.2 or later"})
			}
			all = append(all, p)
			if text, err := json.Marshal(p); err != nil || !yaml.Readable(string(text)) {
				ok = false
				pass.Report(report.Finding{Rule: report.RuleUnwritableText, Position: pass.Loader.Position(value.Pos), Message: "+" + source.PermissionMarker + ": " + yaml.Refusal, Suggestion: yaml.Remedy, Fatal: true})
			}
		}
	}
	return all, ok
}

// role is a ClusterRole or, with a namespace, a Role.
type role struct {
	namespace, name string
	rules           []*rule
}

// rolesOf divides the permissions into roles, ordered by namespace and name.
func rolesOf(permissions []permission, defaultName string, e edition.Roles) []*role {
	var roles []*role
	for _, p := range permissions {
		name := cmp.Or(p.RoleName, defaultName)
		i := slices.IndexFunc(roles, func(r *role) bool { return r.namespace == p.Namespace && r.name == name })
		if i < 0 {
			i = len(roles)
			roles = append(roles, &role{namespace: p.Namespace, name: name})
		}
		roles[i].rules = append(roles[i].rules, rulesOf(p, e)...)
	}
	roles = slices.DeleteFunc(roles, func(r *role) bool { return len(r.rules) == 0 })
	slices.SortFunc(roles, func(a, b *role) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
	for _, r := range roles {
		r.rules = merge(r.rules, e)
	}
	return roles
}

// object is the role as Kubernetes' API writes it.
func (r *role) object() any {
	type metadata struct {
		Name      string `json:"name,omitempty"`
		Namespace string `json:"namespace,omitempty"`
	}
	kind := "ClusterRole"
	if r.namespace != "" {
		kind = "Role"
	}
	return struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Metadata   metadata `json:"metadata"`
		Rules      []*rule  `json:"rules"`
	}{"rbac.authorization.k8s.io/v1", kind, metadata{r.name, r.namespace}, r.rules}
}
