package policy

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/internal/generate/internal/crd"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/report"
)

// File is the name of the generated file in its folder.
const File = "policies.yaml"

type options struct{}

// Generator returns the generator "vap".
func Generator() generator.Generator {
	g := generator.New("vap", "writes ValidatingAdmissionPolicies of the CEL rules of kinds", crd.Markers(), run)
	g.Noted = true
	return g
}

func run(ctx context.Context, pass *generator.Pass, _ options) error {
	var policies []policy
	for _, kind := range crd.AllServed(pass) {
		if err := ctx.Err(); err != nil {
			return err
		}
		rules := rulesOf(kind.Schema)
		p := policy{kind: kind}
		for _, r := range rules {
			if why := r.refusal(); why != "" {
				pass.Report(report.Finding{
					Rule:       report.RulePolicyRule,
					Position:   kind.Locate(fmt.Sprintf("%s.x-kubernetes-validations[%d]", r.at.path, r.nth)),
					Message:    fmt.Sprintf("the policy leaves out this rule of %s.%s: %s", kind.Plural, kind.Group, why),
					Suggestion: "the CRD still checks it: see docs/guides/features.md",
				})
				continue
			}
			p.validations = append(p.validations, r.validation())
		}
		if len(p.validations) > 0 {
			policies = append(policies, p)
		}
	}
	pass.Config(File, print(policies))
	return nil
}
