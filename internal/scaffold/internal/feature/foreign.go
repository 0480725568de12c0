package feature

import (
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// enableForeign takes a feature out of its comments: its line, its sections, and what the project's kinds add to them.
func (p *planner) enableForeign(f Feature) error {
	if err := p.Put(p.defaultConfig(), plan.These(piece.Uncommented{Item: f.listed()})); err != nil {
		return err
	}
	if err := p.uncomment(f); err != nil {
		return err
	}
	switch f {
	case WebhookServer:
		return p.planForeignConversion()
	case CertManager:
		return p.planForeignInjection()
	}
	return nil
}

// planForeignConversion patches the definitions of converted kinds.
func (p *planner) planForeignConversion() error {
	hubs := p.converted()
	if len(hubs) == 0 {
		return nil
	}
	for _, r := range hubs {
		name := p.conversionPatchFile(r, "webhook")
		if err := p.RequireFrom("webhook/conversion.yaml", "config/crd/"+name, map[string]any{"Resource": r}); err != nil {
			return err
		}
		if err := p.Put(p.crdConfig(), plan.These(piece.Patch{Marker: "crdkustomizewebhookpatch", File: name})); err != nil {
			return err
		}
	}
	if err := p.RequireFrom("features/webhook/names.yaml", "config/crd/kustomizeconfig.yaml", p.data()); err != nil {
		return err
	}
	return p.Put(p.crdConfig(), plan.These(piece.UncommentedList{List: "configurations", Name: "kustomizeconfig.yaml"}))
}

// noteConversion says that definitions still convert by a webhook that is no longer deployed: another tool's patches
// of them stay, since without a conversion their versions would be taken for one another.
func (p *planner) noteConversion(off []Feature) error {
	if !slices.Contains(off, WebhookServer) {
		return nil
	}
	list, err := p.Find(p.crdConfig())
	if err != nil || !list.There() {
		return err
	}
	for _, r := range p.converted() {
		if name := p.conversionPatchFile(r, "webhook"); listedIn(list.After(), name) || listedIn(list.After(), "path: "+name) {
			p.Leave(p.crdConfig() + ": " + name + " still has " + r.CRDName() + " converted by the webhook, which is no longer deployed: objects can be read in their stored version alone")
		}
	}
	return nil
}

// planForeignInjection has cert-manager's authority put into those definitions.
func (p *planner) planForeignInjection() error {
	if p.project.Older() {
		return p.planOlderInjection()
	}
	var of []piece.Fragment
	for _, r := range p.converted() {
		for index, marker := range []string{"crdkustomizecainjectionns", "crdkustomizecainjectionname"} {
			of = append(of, injectionTarget(r, marker, index))
		}
	}
	return p.Edit(p.defaultConfig(), func(file string, src []byte) ([]byte, error) {
		var err error
		for _, f := range of {
			if src, err = f.PutOnce(file, src); err != nil {
				return nil, err
			}
		}
		return src, nil
	})
}

// injectionTarget is a target of the replacement that a marker stands below.
func injectionTarget(r project.Resource, marker string, index int) piece.Fragment {
	code := fmt.Sprintf(`     - select:
         kind: CustomResourceDefinition
         name: %s
       fieldPaths:
         - .metadata.annotations.[cert-manager.io/inject-ca-from]
       options:
         delimiter: '/'
         index: %d
         create: true
`, r.CRDName(), index)
	return piece.Fragment{Marker: marker, Code: code, Key: r.CRDName()}
}
