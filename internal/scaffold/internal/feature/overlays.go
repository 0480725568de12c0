package feature

// baseConfig is what projects have beside an overlay for each place they deploy to, and no [defaultConfig].
const baseConfig = "config/default/base/kustomization.yaml"

// onBase is the configuration for features on top of that.
const onBase = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- base\n"

// requireDefault plans the configuration that features are lines of, in a project which has only a base for overlays.
func (p *planner) requireDefault() error {
	if there, err := p.Exists(defaultConfig); err != nil || there || p.Recording() {
		return err
	}
	if based, err := p.Exists(baseConfig); err != nil || !based {
		return err
	}
	return p.Create(defaultConfig, []byte(onBase))
}
