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

// urlMarker matches the marker that a rule about URLs is generated from.
var urlMarker = lazy.Regexp(`(?m)^[ \t]*//[ \t]*\+kubebuilder:rbac:([^\n]*,)?urls=`)

// requireNamespaced refuses a manager whose generated role permits URLs, such as /version: in a namespace, the API
// server accepts rules about resources alone. Rules about resources that are in no namespace are accepted and have no
// effect, which is said.
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

// inNoNamespace are the resources of a rule that belong to the whole cluster, as far as that is known: those of
// Kubernetes and of the project.
func (p *planner) inNoNamespace(rule clusterRule) (names []string) {
	for _, resource := range rule.Resources.Content {
		name, _, _ := strings.Cut(resource.Value, "/")
		if slices.ContainsFunc(rule.Groups, func(group string) bool { return p.clusterScoped(group, name) }) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// clusterScoped reports whether a resource's objects are known to be in no namespace.
func (p *planner) clusterScoped(group, name string) bool {
	const aggregator = "apiregistration.k8s.io" // its types are not among those of Kubernetes' API
	isKind := func(k builtin.Kind) bool { return k.ClusterScoped && k.Resource == name }
	return group == aggregator || slices.ContainsFunc(builtin.Kinds(cmp.Or(group, "core")), isKind) || slices.ContainsFunc(p.project.Resources, func(r project.Resource) bool {
		return r.API != nil && !r.API.Namespaced && r.QualifiedGroup() == group && r.PluralName() == name
	})
}

// refuseURLs names the rule about URLs in the file of the role, and the marker that it is generated from.
func (p *planner) refuseURLs(file string, line int) error {
	without, err := p.Code().FirstLine(urlMarker())
	if err != nil {
		return err
	}
	if without != "" {
		without = "the marker with urls= at " + without
	}
	return &report.Error{
		What: "the manager's role permits URLs, which no namespace has", Where: fmt.Sprintf("%s:%d", file, line),
		Hint: "nothing was changed; if the manager needs them, write a ClusterRole and a ClusterRoleBinding for them into another file of " + path.Dir(file) + "; " +
			"then remove " + cmp.Or(without, "this rule") + ", generate, and run the command again",
		Next: "slipway generate",
	}
}

// A clusterRule is a rule of a ClusterRole.
type clusterRule struct {
	Groups    []string  `yaml:"apiGroups"`
	Resources yaml.Node `yaml:"resources"`
	URLs      yaml.Node `yaml:"nonResourceURLs"`
}

// clusterRules are the rules of a file's ClusterRoles, as far as it can be read.
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
