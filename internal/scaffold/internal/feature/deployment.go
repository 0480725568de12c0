package feature

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// managerFile is where layouts have the manager's Deployment.
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

// deployment is the project's, or slipway's own where the project has none that is known: see requireDeployment.
func (p *planner) deployment() Deployment {
	own := OwnDeployment(p.project.Name)
	all, err := p.Code().Deployments()
	if err != nil || len(all) != 1 || all[0].Written == nil {
		return own
	}
	w, container := all[0].Written, all[0].Container()
	of := Deployment{
		Name: inYAML(w.Name), Namespace: inYAML(cmp.Or(w.Namespace, own.Namespace)), Container: inYAML(container.Name), Index: w.Index,
		ServiceAccount: inYAML(cmp.Or(w.Account, "default")), MetricsPort: own.MetricsPort, WebhookPort: own.WebhookPort,
	}
	for i := 0; i+1 < len(w.Selector.Content); i += 2 {
		of.Labels = append(of.Labels, inYAML(w.Selector.Content[i].Value)+": "+text(w.Selector.Content[i+1]))
	}
	if len(of.Labels) == 0 {
		of.Labels = own.Labels
	}
	for _, port := range slices.Backward(container.Ports) {
		switch {
		case strings.Contains(port.Name, "metrics"):
			of.MetricsPort = port.ContainerPort
		case strings.Contains(port.Name, "webhook"):
			of.WebhookPort = port.ContainerPort
		}
	}
	return of
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

// plain are texts that need no quotes in YAML.
var plain = lazy.Regexp(`^[A-Za-z][-A-Za-z0-9_./]*$`)

// inYAML is a text as YAML has it on a line.
func inYAML(value string) string {
	if !plain().MatchString(value) {
		return strconv.Quote(value)
	}
	return value
}

// text is a value as YAML has it on a line, which is no text without its quotes: true, for example.
func text(value *yaml.Node) string {
	if value.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return strconv.Quote(value.Value)
	}
	return inYAML(value.Value)
}
