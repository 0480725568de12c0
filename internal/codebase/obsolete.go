package codebase

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// obsolete are the options of the crd generator that controller-gen removed in v0.5 (preserveUnknownFields: v0.6), with
// what replaced each. Only CRDs of apiextensions.k8s.io/v1beta1 needed them, which Kubernetes 1.22 removed.
var obsolete = map[string]string{
	"trivialVersions":       "all CRDs have a schema per version now",
	"preserveUnknownFields": "unknown fields are always pruned now; +kubebuilder:pruning:PreserveUnknownFields keeps those of one field",
	"crdVersions=v1beta1":   "Kubernetes 1.22 removed that version; v1 is generated",
}

// withoutObsoleteOptions removes obsolete options from arguments, with a finding for each that names its replacement.
func withoutObsoleteOptions(arguments []string, at report.Position) ([]string, []report.Finding) {
	var findings []report.Finding
	var kept []string
	for _, argument := range arguments {
		options, isCRD := strings.CutPrefix(argument, "crd:")
		if !isCRD {
			kept = append(kept, argument)
			continue
		}
		parts := strings.Split(options, ",")
		for i, part := range parts {
			parts[i] = strings.TrimSpace(part) // controller-gen ignores spaces after commas
		}
		parts = slices.DeleteFunc(parts, func(option string) bool {
			became, old := replacement(option)
			if old {
				findings = append(findings, report.Finding{Rule: report.RuleObsoleteOption, Position: at, Message: fmt.Sprintf("the option crd:%s is obsolete and has no effect", option), Suggestion: became})
			}
			return old
		})
		kept = append(kept, strings.TrimSuffix("crd:"+strings.Join(parts, ","), ":"))
	}
	return kept, findings
}

func replacement(option string) (became string, old bool) {
	name, _, _ := strings.Cut(option, "=")
	for _, key := range []string{option, strings.NewReplacer("{", "", "}", "", `"`, "").Replace(option), name} {
		if became, old = obsolete[key]; old {
			return became, true
		}
	}
	return "", false
}
