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

const managerFile = "config/manager/manager.yaml"

// A Deployment is what features need to know about the manager's Deployment. Other tools use other names and labels:
// kustomize fails on a patch of an unknown name, and a policy or Service with other labels selects no pod.
type Deployment struct {
	Name, Namespace string
	Container       string   // the manager's
	Index           int      // position of the manager's container
	ServiceAccount  string   // of the pods
	Labels          []string // lines of YAML by which the Deployment selects its pods

	MetricsPort, WebhookPort int // of the manager's container
}

// OwnDeployment is the Deployment of a project that `slipway init` made.
func OwnDeployment(projectName string) Deployment {
	return Deployment{
		Name: "controller-manager", Namespace: "system", Container: "manager", ServiceAccount: "controller-manager",
		Labels:      []string{"control-plane: controller-manager", "app.kubernetes.io/name: " + projectName},
		MetricsPort: 8443, WebhookPort: 9443,
	}
}

// deployment returns the project's Deployment, or that of `slipway init` if the project has none or several.
// [planner.requireDeployment] refuses such projects.
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
		of.Labels = append(of.Labels, inYAML(w.Selector.Content[i].Value)+": "+yamlScalar(w.Selector.Content[i+1]))
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

// First is a patch that makes the manager's container the first one, or "" if it is. A JSON patch of its arguments can
// select a container only by position. Kustomize puts containers that a patch names before the others, so an earlier
// feature may have changed the position.
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

// plain matches texts that need no quotes in YAML.
var plain = lazy.Regexp(`^[A-Za-z][-A-Za-z0-9_./]*$`)

// inYAML returns the value as a YAML scalar on one line.
func inYAML(value string) string {
	if !plain().MatchString(value) {
		return strconv.Quote(value)
	}
	return value
}

// yamlScalar returns the value as a YAML scalar on one line. It keeps quotes, without which true, for example, is no
// text.
func yamlScalar(value *yaml.Node) string {
	if value.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return strconv.Quote(value.Value)
	}
	return inYAML(value.Value)
}
