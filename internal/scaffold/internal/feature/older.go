package feature

import (
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// conversionPatchFile is the patch in config/crd that another tool has of a converted kind, for its webhook or for
// cert-manager's injection.
func (p *planner) conversionPatchFile(r project.Resource, what string) string {
	if p.project.MultiGroup && r.Group != "" && !p.project.Terse() {
		return "patches/" + what + "_in_" + r.Group + "_" + r.PluralName() + ".yaml"
	}
	return "patches/" + what + "_in_" + r.PluralName() + ".yaml"
}

// planOlderInjection has cert-manager's authority put into the definitions of converted kinds by the patches that older
// layouts have for it, where they are there.
func (p *planner) planOlderInjection() error {
	for _, r := range p.converted() {
		name := p.conversionPatchFile(r, "cainjection")
		there, err := p.Exists("config/crd/" + name)
		if err != nil || !there {
			return err
		}
		if err := p.Put("config/crd/kustomization.yaml", plan.These(piece.Patch{Marker: "crdkustomizecainjectionpatch", File: name})); err != nil {
			return err
		}
	}
	return nil
}
