package feature

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/lazy"
)

// managerFile is where every layout has the manager's Deployment.
const managerFile = "config/manager/manager.yaml"

// A Deployment is what features need to know of the manager's Deployment. Projects of other tools have other names and
// labels than slipway's: a patch of another name fails, and a policy or a Service with labels of no pod does nothing.
type Deployment struct {
	Name, Namespace string
	Container       string   // the manager's
	Index           int      // of that container
	ServiceAccount  string   // of its pods
	Labels          []string // by which it selects its pods, as lines of YAML

	MetricsPort, WebhookPort int // of that container
}

// OwnDeployment is the Deployment of a project as `slipway init` makes it.
func OwnDeployment(projectName string) Deployment {
	return Deployment{
		Name: "controller-manager", Namespace: "system", Container: "manager", ServiceAccount: "controller-manager",
		Labels:      []string{"control-plane: controller-manager", "app.kubernetes.io/name: " + projectName},
		MetricsPort: 8443, WebhookPort: 9443,
	}
}

// deployment is the project's, or slipway's own where the project has none.
func (p *planner) deployment() (Deployment, error) {
	own := OwnDeployment(p.project.Name)
	file, found, err := p.manager()
	if err != nil || file == "" {
		return own, err
	}
	return found.over(own), nil
}

// manager is the manager's Deployment and its file: the one where every layout has it, or else the one that is
// deployed from another place. It is none where several are deployed and their containers do not show whose they are.
func (p *planner) manager() (file string, found manifest, err error) {
	c, err := p.Find(managerFile)
	if err != nil {
		return "", manifest{}, err
	}
	if found, ok := firstDeployment(c.After()); c.There() && ok {
		return managerFile, found, nil
	}
	all, err := p.deployments()
	if err != nil {
		return "", manifest{}, err
	}
	if len(all) > 1 {
		all = slices.DeleteFunc(all, func(d deployed) bool { return !d.hasContainer(OwnDeployment("").Container) })
	}
	if len(all) != 1 {
		return "", manifest{}, nil
	}
	return all[0].file, all[0].manifest, nil
}

// A deployed Deployment is one of what config/default builds.
type deployed struct {
	file string
	manifest
}

func (p *planner) deployments() (all []deployed, err error) {
	files, err := p.After().DeployedFiles(codebase.DeployedFolder)
	if err != nil {
		return nil, err
	}
	for _, l := range files {
		c, err := p.Find(l.File)
		if err != nil {
			return nil, err
		}
		if found, ok := firstDeployment(c.After()); ok {
			all = append(all, deployed{l.File, found})
		}
	}
	return all, nil
}

// First is a patch that makes the manager's container the first one, for a JSON patch of its arguments below, which can
// only count. It is empty where the manager is the first. Kustomize puts the containers that a patch names before the
// others, so what an earlier feature patched may have another place than in the Deployment's file.
func (d Deployment) First() string {
	if d.Index == 0 {
		return ""
	}
	return fmt.Sprintf(`- target:
    kind: Deployment
    name: %[1]s
  patch: | # makes the manager's container the first one
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: %[1]s
    spec:
      template:
        spec:
          containers:
          - name: %[2]s
`, d.Name, d.Container)
}

// manifest is what is read of a Deployment.
type manifest struct {
	Kind     string
	Metadata struct{ Name, Namespace yaml.Node }
	Spec     struct {
		Selector struct {
			MatchLabels yaml.Node `yaml:"matchLabels"`
		}
		Template struct {
			Spec struct {
				ServiceAccountName yaml.Node `yaml:"serviceAccountName"`
				Containers         []container
			}
		}
	}
}

type container struct {
	Name, Args yaml.Node
	Ports      []struct {
		Name          yaml.Node
		ContainerPort yaml.Node `yaml:"containerPort"`
	}
}

// port is the container's port whose name has a word, or another one where it names none.
func (c container) port(word string, otherwise int) int {
	for _, p := range c.Ports {
		if number, err := strconv.Atoi(p.ContainerPort.Value); err == nil && strings.Contains(p.Name.Value, word) {
			return number
		}
	}
	return otherwise
}

// firstDeployment is the first Deployment in a file.
func firstDeployment(src []byte) (manifest, bool) {
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var object manifest
		if decoder.Decode(&object) != nil {
			return manifest{}, false // the file cannot be read, or ends
		}
		if object.Kind == "Deployment" {
			return object, true
		}
	}
}

// over is the Deployment, with what it leaves out from another one.
func (m manifest) over(other Deployment) Deployment {
	of := Deployment{
		Name: text(m.Metadata.Name, other.Name), Namespace: text(m.Metadata.Namespace, other.Namespace),
		Container: other.Container, ServiceAccount: text(m.Spec.Template.Spec.ServiceAccountName, "default"),
		Labels: lines(&m.Spec.Selector.MatchLabels), MetricsPort: other.MetricsPort, WebhookPort: other.WebhookPort,
	}
	if len(of.Labels) == 0 {
		of.Labels = other.Labels
	}
	containers := m.Spec.Template.Spec.Containers
	if of.Index = m.managerIndex(other.Container); len(containers) > 0 {
		of.Container = text(containers[of.Index].Name, other.Container)
		of.MetricsPort, of.WebhookPort = containers[of.Index].port("metrics", other.MetricsPort), containers[of.Index].port("webhook", other.WebhookPort)
	}
	return of
}

func (m manifest) hasContainer(name string) bool {
	return slices.ContainsFunc(m.Spec.Template.Spec.Containers, func(c container) bool { return c.Name.Value == name })
}

// managerIndex is the index of the container of a name or, without one, that of the first.
func (m manifest) managerIndex(name string) int {
	return max(0, slices.IndexFunc(m.Spec.Template.Spec.Containers, func(c container) bool { return c.Name.Value == name }))
}

// plain are labels that need no quotes in YAML.
var plain = lazy.Regexp(`^[A-Za-z][-A-Za-z0-9_./]*$`)

// text is a value as YAML has it on a line, or another one where there is none.
func text(value yaml.Node, otherwise string) string {
	switch {
	case value.Value == "":
		return otherwise
	case !plain().MatchString(value.Value) || value.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return strconv.Quote(value.Value)
	}
	return value.Value
}

func lines(labels *yaml.Node) []string {
	var out []string
	for i := 0; i+1 < len(labels.Content); i += 2 {
		key := labels.Content[i].Value
		if !plain().MatchString(key) {
			key = strconv.Quote(key)
		}
		out = append(out, key+": "+text(*labels.Content[i+1], `""`))
	}
	return out
}
