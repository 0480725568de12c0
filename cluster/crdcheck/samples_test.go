package crdcheck_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/crdcheck"
)

const sampleDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: orders.store.example.com}
spec:
  group: store.example.com
  names: {kind: Order, plural: orders}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1}
              kind: {type: string, enum: [a, b], default: a}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              note: {type: string}
            x-kubernetes-validations:
            - {rule: "self.size < 10 || self.kind == 'b'", message: too large}
          status:
            type: object
            properties:
              ready: {type: boolean}
`

// TestCheckSamples: each sample is judged as when it is created, and each mistake has its line.
func TestCheckSamples(t *testing.T) {
	const head = "apiVersion: store.example.com/v1\nkind: Order\nmetadata: {name: a}\n"
	for name, test := range map[string]struct{ sample, want string }{
		"right":               {head + "spec:\n  size: 1\n", ""},
		"its status is wrong": {head + "spec:\n  size: 1\nstatus: {ready: 1}\n", ""},
		"null":                {head + "spec:\n  size: 1\n  note: null\n", ""},
		"no spec":             {head, "1 spec: required value is missing"},
		"an empty spec":       {head + "spec:\n", "4 spec: required value is missing"},
		"too small":           {head + "spec:\n  size: 0\n", "5 spec.size: "},
		"another type":        {head + "spec:\n  size: many\n", "5 spec.size: "},
		"unknown field":       {head + "spec:\n  size: 1\n  sise: 2\n", "6 spec.sise: unknown field"},
		"twice in a set":      {head + "spec:\n  size: 1\n  tags:\n  - x\n  - x\n", "8 spec.tags[1]: duplicate"},
		"against a rule":      {head + "spec:\n  size: 11\n", "4 spec: too large"},
		"with a rule":         {head + "spec:\n  size: 11\n  kind: b\n", ""},
		"in a later document": {"# One.\n---\n" + head + "spec: {size: 1}\n---\n" + head + "spec:\n  size: 0\n", "12 spec.size: "},
		"another kind":        {"apiVersion: v1\nkind: ConfigMap\ndata: 1\n", ""},
		"another version":     {"apiVersion: store.example.com/v2\nkind: Order\n", ""},
		"no YAML":             {"a: [", ""},
		"aliases":             {"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := samples(t, test.sample)
			if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// samples are the findings on a sample.
func samples(t *testing.T, sample string) string {
	t.Helper()
	var all []string
	for _, f := range crdcheck.CheckSamples(t.Context(), []crdcheck.File{{Name: "crd.yaml", Content: sampleDefinition}}, []crdcheck.File{{Name: "sample.yaml", Content: sample}}) {
		if f.File != "sample.yaml" || f.Definition != "orders.store.example.com" || !f.Refused || (f.Reason == crdcheck.UnknownField) != (f.Message == "unknown field") {
			t.Errorf("got %+v", f)
		}
		all = append(all, fmt.Sprintf("%d %s: %s", f.Line, f.Path, f.Message))
	}
	return strings.Join(all, "\n")
}
