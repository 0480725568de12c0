package feature

import (
	"regexp"
	"strings"

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
		if err := p.Put(p.crdConfig(), plan.These(piece.Patch{Marker: "crdkustomizecainjectionpatch", File: name})); err != nil {
			return err
		}
	}
	return nil
}

// olderPatches are what older layouts list as a name alone, in comments while a feature is off.
var olderPatches = map[Feature]string{WebhookServer: webhookPatch, CertManager: injectionPatch}

// switchOlder puts the line of a feature's patch into a comment, or takes it out.
func (p *planner) switchOlder(f Feature, on bool) error {
	patch, ok := olderPatches[f]
	if !ok || !p.project.Older() {
		return nil
	}
	return p.Edit(p.defaultConfig(), func(_ string, src []byte) ([]byte, error) {
		lines := strings.SplitAfter(string(src), "\n")
		switchLines(lines, regexp.MustCompile(`^#?\s*- `+regexp.QuoteMeta(patch)+`\s*$`), on)
		return []byte(strings.Join(lines, "")), nil
	})
}

// injectedNames are the variables that older layouts put into names of objects: those of the webhooks' certificate and
// Service. A project's own variables stay.
func injectedNames() piece.Section {
	return piece.Section{List: "vars", Bare: true, Is: func(item map[string]any) bool {
		object, _ := item["objref"].(map[string]any)
		return object["name"] == "serving-cert" || object["name"] == "webhook-service"
	}}
}

// switchLines takes the # from the lines that match, or puts it before them.
func switchLines(lines []string, match *regexp.Regexp, on bool) {
	for i, line := range lines {
		commented := strings.HasPrefix(line, "#")
		if !match.MatchString(strings.TrimRight(line, "\r\n")) || commented != on {
			continue
		}
		if on {
			lines[i] = strings.TrimPrefix(line, "#")
			continue
		}
		lines[i] = "#" + line
	}
}
