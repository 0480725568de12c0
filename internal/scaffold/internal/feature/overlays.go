package feature

import "github.com/slipway-dev/slipway/internal/lazy"

// baseConfig is what projects have beside an overlay for each place they deploy to, and no [defaultConfig].
const baseConfig = "config/default/base/kustomization.yaml"

// onBase begins the configuration for features on top of that.
const onBase = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"

// inNamespace matches the line by which a kustomization puts all into a namespace.
var inNamespace = lazy.Regexp(`(?m)^namespace: *\S+`)

// requireDefault plans the configuration that features are lines of, in a project which has only a base for overlays.
// It puts what features add into the namespace of the rest.
func (p *planner) requireDefault() error {
	if there, err := p.Exists(defaultConfig); err != nil || there || p.Recording() {
		return err
	}
	based, err := p.Find(baseConfig)
	if err != nil || !based.There() {
		return err
	}
	text := onBase
	if namespace := inNamespace().Find(based.After()); namespace != nil {
		text += string(namespace) + "\n"
	}
	return p.Create(defaultConfig, []byte(text+"resources:\n- base\n"))
}
