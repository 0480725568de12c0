package feature

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/builtin"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// urlMarker matches markers that generate a rule about URLs.
var urlMarker = lazy.Regexp(`(?m)^[ \t]*//[ \t]*\+kubebuilder:rbac:([^\n]*,)?urls=`)

// requireNamespaced refuses a manager whose generated role permits URLs, such as /version: the API server accepts no
// such rule in a namespaced Role. It reports rules about cluster-scoped resources, which are accepted there and have no
// effect.
func (p *planner) requireNamespaced() error {
	generation, err := p.Code().Generation()
	if err != nil {
		return err
	}
	file := generation.RoleFile()
	c, err := p.Find(file)
	if err != nil || p.Recording() {
		return err
	}
	rules := clusterRules(c.After())
	for _, rule := range rules {
		if urls := rule.URLs.Content; len(urls) > 0 {
			return p.refuseURLs(file, urls[0].Line)
		}
	}
	for _, rule := range rules {
		if names := p.inNoNamespace(rule); len(names) > 0 {
			p.Leave(fmt.Sprintf("%s:%d: in a namespace this has no effect, since %s are in none; if the manager needs them, write a ClusterRole and a ClusterRoleBinding into another file of %s",
				file, rule.Resources.Content[0].Line, strings.Join(names, ", "), path.Dir(file)))
		}
	}
	return nil
}

// inNoNamespace returns the resources of a rule that are known to be cluster-scoped: Kubernetes' own and the project's.
func (p *planner) inNoNamespace(rule clusterRule) (names []string) {
	for _, resource := range rule.Resources.Content {
		name, _, _ := strings.Cut(resource.Value, "/")
		if slices.ContainsFunc(rule.Groups, func(group string) bool { return p.clusterScoped(group, name) }) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (p *planner) clusterScoped(group, name string) bool {
	const aggregator = "apiregistration.k8s.io" // its types are not among those of Kubernetes' API
	isKind := func(k builtin.Kind) bool { return k.ClusterScoped && k.Resource == name }
	return group == aggregator || slices.ContainsFunc(builtin.Kinds(cmp.Or(group, "core")), isKind) || slices.ContainsFunc(p.project.Resources, func(r project.Resource) bool {
		return r.API != nil && !r.API.Namespaced && r.QualifiedGroup() == group && r.PluralName() == name
	})
}

// refuseURLs reports the rule in the role's file, and the marker that generates it.
func (p *planner) refuseURLs(file string, line int) error {
	without, err := p.Code().FirstLine(urlMarker())
	if err != nil {
		return err
	}
	if without != "" {
		without = "the marker with urls= at " + without
	}
	return &report.Error{
		Class: report.BadProject,
		What:  "the manager's role permits URLs, which no namespace has", Where: fmt.Sprintf("%s:%d", file, line),
		Hint: "nothing was changed; if the manager needs them, write a ClusterRole and a ClusterRoleBinding for them into another file of " + path.Dir(file) + "; " +
			"then remove " + cmp.Or(without, "this rule") + ", generate, and run the command again",
		Next: "slipway generate",
	}
}

type clusterRule struct {
	Groups    []string  `yaml:"apiGroups"`
	Resources yaml.Node `yaml:"resources"`
	URLs      yaml.Node `yaml:"nonResourceURLs"`
}

// clusterRules returns the rules of a file's ClusterRoles, up to the first document that cannot be read.
func clusterRules(src []byte) (rules []clusterRule) {
	for _, role := range documents[struct {
		Kind  string
		Rules []clusterRule
	}](src) {
		if role.Kind == "ClusterRole" {
			rules = append(rules, role.Rules...)
		}
	}
	return rules
}

// Names of the manager's role and its binding, if the project does not use others.
const (
	usualRole    = "manager-role"
	usualBinding = "manager-rolebinding"
)

// roles returns the names of the manager's generated role and of the binding that grants it.
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

// permission has the fields of a role or a binding that are read.
type permission struct {
	Kind     string
	Metadata struct{ Name string }
	RoleRef  struct{ Name string } `yaml:"roleRef"`
}

// plainName matches names that YAML reads as themselves without quotes. A repository may contain any name.
var plainName = lazy.Regexp(`^[A-Za-z]([\w.:-]*\w)?$`)

// rolesIn returns the objects of a file, up to the first that cannot be read. It leaves out objects whose name is not
// plain.
func rolesIn(src []byte) []permission {
	return slices.DeleteFunc(documents[permission](src), func(o permission) bool { return !plainName().MatchString(o.Metadata.Name) })
}
