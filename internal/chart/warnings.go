package chart

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
	"github.com/slipway-dev/slipway/internal/chart/internal/settings"
	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
	"github.com/slipway-dev/slipway/internal/kustomization"
)

// warn returns what the chart does not take over from the kustomization, although it installs.
func (g *generator) warn() []string {
	return slices.Concat(g.model.Notes, withoutManager(g.model), koReferences(g.model), g.oldHosts())
}

// withoutManager warns if no Deployment's settings become values.
func withoutManager(m *model.Model) []string {
	var names []string
	for _, d := range m.Documents {
		if d.Of("apps", "Deployment") {
			names = append(names, d.Name)
		}
	}
	if len(names) == 0 || settings.HasManager(m) {
		return nil
	}
	return []string{"values.yaml has no image, replicas or resources: none of the Deployments " + strings.Join(names, ", ") +
		" says that it is the manager's; to have them, add the label control-plane: controller-manager to its pods"}
}

// koReferences warns of images that only ko resolves.
func koReferences(m *model.Model) (found []string) {
	for _, d := range m.Documents {
		for _, text := range scalars(d.Object) {
			if strings.HasPrefix(text, kustomization.KoScheme) {
				found = append(found, fmt.Sprintf("the %s %s has %s, which only ko replaces and no node can pull: set manager.image, or have the kustomization name an image", d.Kind, d.Name, text))
			}
		}
	}
	return found
}

// oldHosts warns of containers that call a Service by the name that it has without the chart.
func (g *generator) oldHosts() (found []string) {
	m := g.model
	for _, service := range m.Documents {
		if !service.Of("", "Service") {
			continue
		}
		host := hostOf(m.Prefix+service.Name, m.Namespace)
		for _, d := range m.Documents {
			for _, text := range textsOf(d.Object.At("spec", "template", "spec")) {
				if !host.MatchString(text) {
					continue
				}
				warning := fmt.Sprintf("%s of the %s %s calls the Service %s, %s: "+
					"put the name there by a replacement of the kustomization, from the Service's metadata.name",
					text, d.Kind, d.Name, m.Prefix+service.Name, g.naming())
				if !slices.Contains(found, warning) {
					found = append(found, warning)
				}
			}
		}
	}
	return found
}

// hostOf matches a Service's name as a host: before its namespace or a port.
func hostOf(name, namespace string) *regexp.Regexp {
	after := `\$\(|[a-z0-9-]+\.svc\b`
	if namespace != "" {
		after += "|" + regexp.QuoteMeta(namespace) + `\b`
	}
	return regexp.MustCompile(`(^|[^A-Za-z0-9.-])` + regexp.QuoteMeta(name) + `(\.(` + after + `)|:[0-9])`)
}

// textsOf returns the arguments and variables of a pod's containers.
func textsOf(pod *tree.Map) (texts []string) {
	for _, list := range []string{"initContainers", "containers"} {
		containers := pod.List(list)
		if containers == nil {
			continue
		}
		for _, container := range containers.Maps() {
			for _, field := range []string{"command", "args", "env"} {
				if f := container.Find(field); f != nil {
					texts = append(texts, scalars(f.Value)...)
				}
			}
		}
	}
	return texts
}

// scalars returns the strings in a tree.
func scalars(n tree.Node) (texts []string) {
	switch n := n.(type) {
	case *tree.Map:
		for _, f := range n.Fields {
			texts = append(texts, scalars(f.Value)...)
		}
	case *tree.List:
		for _, item := range n.Items {
			texts = append(texts, scalars(item.Value)...)
		}
	case tree.Scalar:
		if text, ok := n.Value.(string); ok {
			return []string{text}
		}
	}
	return texts
}
