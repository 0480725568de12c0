package feature

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/usage"
)

// urlMarker matches the marker that a rule about URLs is generated from.
var urlMarker = lazy.Regexp(`(?m)^[ \t]*//[ \t]*\+kubebuilder:rbac:([^\n]*,)?urls=`)

// requireResources refuses a manager whose generated role permits URLs, such as /version: in a namespace, the API
// server accepts rules about resources alone.
func (p *planner) requireResources() error {
	c, err := p.Find(roleFile)
	if err != nil {
		return err
	}
	line := urlLine(c.After())
	if line == 0 || p.Recording() {
		return nil
	}
	sources, err := usage.Read(p.Root())
	if err != nil {
		return err
	}
	without := "this rule"
	if marker := sources.Line(urlMarker()); marker != "" {
		without = "the marker with urls= at " + marker
	}
	return &report.Error{
		What: "the manager's role permits URLs, which no namespace has", Where: fmt.Sprintf("%s:%d", roleFile, line),
		Hint: "nothing was changed; if the manager needs them, write a ClusterRole and a ClusterRoleBinding for them into another file of config/rbac; " +
			"then remove " + without + ", generate, and run the command again",
		Next: "slipway generate",
	}
}

// urlLine is the line of a role's first rule about URLs, or 0.
func urlLine(src []byte) int {
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var role struct {
			Kind  string
			Rules []struct {
				URLs yaml.Node `yaml:"nonResourceURLs"`
			}
		}
		if decoder.Decode(&role) != nil {
			return 0
		}
		for _, rule := range role.Rules {
			if urls := rule.URLs.Content; role.Kind == "ClusterRole" && len(urls) > 0 {
				return urls[0].Line
			}
		}
	}
}
