package feature

import (
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// conversionPatchFile returns kubebuilder's name, below config/crd, of a patch for a converted kind. What is "webhook"
// or "cainjection".
func (p *planner) conversionPatchFile(r project.Resource, what string) string {
	if p.project.MultiGroup && r.Group != "" && !p.project.IsV2() {
		return "patches/" + what + "_in_" + r.Group + "_" + r.PluralName() + ".yaml"
	}
	return "patches/" + what + "_in_" + r.PluralName() + ".yaml"
}

// planForeignConversion patches the definitions of converted kinds as kubebuilder does: with files in
// config/crd/patches.
func (p *planner) planForeignConversion() error {
	hubs := p.converted()
	if len(hubs) == 0 {
		return nil
	}
	for _, r := range hubs {
		name := p.conversionPatchFile(r, "webhook")
		if err := p.RequireFrom("webhook/conversion.yaml", p.Code().CRDListFolder()+"/"+name, map[string]any{"Resource": r}); err != nil {
			return err
		}
		if err := p.Insert(p.crdConfig(), plan.These(piece.Patch{Marker: "crdkustomizewebhookpatch", File: name})); err != nil {
			return err
		}
	}
	if err := p.RequireFrom("features/webhook/names.yaml", p.Code().CRDListFolder()+"/kustomizeconfig.yaml", p.data()); err != nil {
		return err
	}
	names := features.Entry{List: "configurations", Item: "kustomizeconfig.yaml", Folder: "crd"}
	if err := p.set(names, true); err != nil {
		return err
	}
	return p.Insert(p.crdConfig(), plan.These(piece.Entry{List: names.List, Text: names.Item}))
}

// noteConversion names the definitions that are still converted by a webhook which is no longer deployed. Patches of
// another tool stay: without a conversion, the API server would take one version for another.
func (p *planner) noteConversion(off []features.Name) error {
	if !slices.Contains(off, features.WebhookServer) {
		return nil
	}
	for _, r := range p.converted() {
		name := p.conversionPatchFile(r, "webhook")
		is, _, err := p.state(features.Entry{List: "patches", Item: name, Folder: "crd"})
		if err != nil {
			return err
		}
		if is == listed {
			p.Leave(p.crdConfig() + ": " + name + " still has " + r.CRDName() + " converted by the webhook, which is no longer deployed: objects can be read in their stored version alone")
		}
	}
	return nil
}

// planForeignInjection lets cert-manager put its authority into these definitions: by the patches of older layouts
// where they exist, else by replacements.
func (p *planner) planForeignInjection() error {
	for _, r := range p.converted() {
		if !p.project.Older() {
			for index, marker := range []string{"crdkustomizecainjectionns", "crdkustomizecainjectionname"} {
				if err := p.Edit(p.defaultConfig(), injectionTarget(r, marker, index).PutOnce); err != nil {
					return err
				}
			}
			continue
		}
		name := p.conversionPatchFile(r, "cainjection")
		there, err := p.Exists(p.Code().CRDListFolder() + "/" + name)
		if err != nil || !there {
			return err
		}
		if err := p.Insert(p.crdConfig(), plan.These(piece.Patch{Marker: "crdkustomizecainjectionpatch", File: name})); err != nil {
			return err
		}
	}
	return nil
}

// injectionTarget is one target of the replacement below the marker. Index selects the half of namespace/name that it
// fills.
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
