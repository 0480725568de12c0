package feature

import (
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
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

// olderParts are the lines of config/default by which older layouts switch a feature on, besides that of its folder: a
// patch, and for cert-manager the variables in names of its objects.
var olderParts = map[Feature]struct {
	patch string
	vars  bool
}{
	WebhookServer: {"manager_webhook_patch.yaml", false},
	CertManager:   {"webhookcainjection_patch.yaml", true},
}

// switchOlder puts those lines into comments, or takes them out.
func (p *planner) switchOlder(f Feature, on bool) error {
	parts, ok := olderParts[f]
	if !ok || !p.project.Older() {
		return nil
	}
	return p.Edit(defaultConfig, func(_ string, src []byte) ([]byte, error) {
		lines := strings.SplitAfter(string(src), "\n")
		switchLines(lines, regexp.MustCompile(`^#?\s*- (path: )?`+regexp.QuoteMeta(parts.patch)+`\s*$`), on)
		if parts.vars {
			switchVars(varsIn(lines), on)
		}
		return []byte(strings.Join(lines, "")), nil
	})
}

// varsIn are the lines behind `vars:`, up to the next list.
func varsIn(lines []string) []string {
	from := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "vars:") })
	if from < 0 {
		return nil
	}
	rest := lines[from+1:]
	if next := slices.IndexFunc(rest, startsList().MatchString); next >= 0 {
		return rest[:next]
	}
	return rest
}

var startsList = lazy.Regexp(`^[A-Za-z]`)

// Lines of a variable: its first, all, and those by which it belongs to the webhooks' certificate or Service.
var (
	startsVar     = lazy.Regexp(`^#?- name: `)
	partOfVar     = lazy.Regexp(`^#?(- name: |  [a-z]|    [a-z])`)
	ofCertManager = lazy.Regexp(`(?m)^#?    name: (serving-cert|webhook-service)\b`)
)

// switchVars switches the variables that name objects of cert-manager's feature. A project's own variables stay.
func switchVars(lines []string, on bool) {
	for len(lines) > 0 {
		end := len(lines)
		if next := slices.IndexFunc(lines[1:], startsVar().MatchString); next >= 0 {
			end = 1 + next
		}
		if item := lines[:end]; ofCertManager().MatchString(strings.Join(item, "")) {
			switchLines(item, partOfVar(), on)
		}
		lines = lines[end:]
	}
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
