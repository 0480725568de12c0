package feature

import (
	"bytes"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// managerFile is where every layout has the manager's Deployment.
const managerFile = "config/manager/manager.yaml"

// labels are the labels by which the manager's Deployment selects its pods, as lines of YAML. Projects of other tools
// have others than slipway's; a policy or a Service with labels that no pod has would do nothing.
func (p *planner) labels() ([]string, error) {
	c, err := p.Find(managerFile)
	if err != nil {
		return nil, err
	}
	if c.There() {
		if found := selected(c.After()); len(found) > 0 {
			return found, nil
		}
	}
	return []string{"control-plane: controller-manager", "app.kubernetes.io/name: " + p.project.Name}, nil
}

// selected are the labels that the first Deployment in a file selects.
func selected(src []byte) []string {
	var object struct {
		Kind string
		Spec struct {
			Selector struct {
				MatchLabels yaml.Node `yaml:"matchLabels"`
			}
		}
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; {
		object.Kind = ""
		if err := decoder.Decode(&object); err == io.EOF || err != nil {
			return nil // what cannot be read has no labels to go by
		}
		if object.Kind == "Deployment" {
			return lines(&object.Spec.Selector.MatchLabels)
		}
	}
}

// plain are labels that need no quotes in YAML.
var plain = regexp.MustCompile(`^[A-Za-z][-A-Za-z0-9_./]*$`)

func lines(labels *yaml.Node) []string {
	var out []string
	for i := 0; i+1 < len(labels.Content); i += 2 {
		key, value := labels.Content[i].Value, labels.Content[i+1].Value
		if !plain.MatchString(value) || labels.Content[i+1].Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			value = strconv.Quote(value)
		}
		if !plain.MatchString(key) {
			key = strconv.Quote(key)
		}
		out = append(out, key+": "+value)
	}
	return out
}
