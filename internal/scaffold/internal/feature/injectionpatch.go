package feature

import (
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// injectionPatch and injectionFile are the patch by which older layouts of kubebuilder put cert-manager's authority
// into the configurations of webhooks.
const injectionPatch, injectionFile = "webhookcainjection_patch.yaml", "config/default/webhookcainjection_patch.yaml"

// Lines of such a patch, in a comment or not. Kubernetes 1.22 removed the API version v1beta1; no generated
// configuration has it.
var (
	removedVersion = lazy.Regexp(`(?m)^(#?apiVersion: admissionregistration\.k8s\.io/)v1beta1\b`)
	injectedKind   = lazy.Regexp(`(?m)^#?kind: (MutatingWebhookConfiguration|ValidatingWebhookConfiguration)\s*$`)
	partOfObject   = lazy.Regexp(`^#?((apiVersion|kind|metadata):|  +[\w./-]+:)`)
)

// fitInjection makes the patch name exactly the configurations that are generated: kustomize refuses a patch of an
// object that does not exist.
func (p *planner) fitInjection() error {
	if !p.project.Older() {
		return nil
	}
	if there, err := p.Exists(injectionFile); err != nil || !there {
		return err
	}
	generated, err := p.Find(webhookManifests)
	if err != nil {
		return err
	}
	kinds := p.certified()
	for _, m := range injectedKind().FindAllSubmatch(generated.After(), -1) { // webhooks that PROJECT does not know, too
		kinds = append(kinds, string(m[1]))
	}
	return p.Edit(injectionFile, func(_ string, src []byte) ([]byte, error) {
		documents := strings.SplitAfter(removedVersion().ReplaceAllString(string(src), "${1}v1"), "\n---\n")
		for i, document := range documents {
			m := injectedKind().FindStringSubmatch(document)
			if m == nil || len(kinds) == 0 {
				continue
			}
			lines := strings.SplitAfter(document, "\n")
			toggleComments(lines, partOfObject(), slices.Contains(kinds, m[1]))
			documents[i] = strings.Join(lines, "")
		}
		return []byte(strings.Join(documents, "")), nil
	})
}

// toggleComments uncomments the lines that match, or comments them out.
func toggleComments(lines []string, match *regexp.Regexp, on bool) {
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
