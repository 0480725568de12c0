package policy

import (
	"bytes"

	"github.com/slipway-dev/slipway/internal/generate/internal/crd"
	"github.com/slipway-dev/slipway/internal/generate/internal/yaml"
)

// A policy is the one of a kind's version.
type policy struct {
	kind        crd.Served
	validations []validation
}

// name is that of the policy and its binding.
func (p policy) name() string { return p.kind.Version + "." + p.kind.Plural + "." + p.kind.Group }

const heading = "# Made by slipway generate from the CEL rules of the kinds. kustomization.yaml sets the effect of a violation.\n"

// print writes all policies with their bindings.
func print(policies []policy) []byte {
	var out bytes.Buffer
	out.WriteString(heading)
	for _, p := range policies {
		for _, object := range []map[string]any{p.object(), p.binding()} {
			w := yaml.NewWriter()
			w.Preamble("---\n")
			w.Value(object)
			out.Write(w.Bytes())
		}
	}
	return out.Bytes()
}

func (p policy) object() map[string]any {
	var validations []any
	for _, v := range p.validations {
		validations = append(validations, v.object())
	}
	resources := []any{p.kind.Plural}
	if p.kind.Status {
		resources = append(resources, p.kind.Plural+"/status")
	}
	return p.of("ValidatingAdmissionPolicy", map[string]any{
		"failurePolicy": "Fail",
		"matchConstraints": map[string]any{
			"matchPolicy": "Exact", // each version has a policy of its own
			"resourceRules": []any{map[string]any{
				"apiGroups":   []any{p.kind.Group},
				"apiVersions": []any{p.kind.Version},
				"operations":  []any{"CREATE", "UPDATE"},
				"resources":   resources,
			}},
		},
		"validations": validations,
	})
}

func (p policy) binding() map[string]any {
	return p.of("ValidatingAdmissionPolicyBinding", map[string]any{"policyName": p.name(), "validationActions": []any{"Deny"}})
}

func (p policy) of(kind string, spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1",
		"kind":       kind,
		"metadata":   map[string]any{"name": p.name(), "annotations": map[string]any{"slipway.dev/generated": "true"}},
		"spec":       spec,
	}
}

func (v validation) object() map[string]any {
	o := map[string]any{"expression": v.expression, "message": v.message, "reason": v.reason}
	if v.messageExpression != "" {
		o["messageExpression"] = v.messageExpression
	}
	return o
}
