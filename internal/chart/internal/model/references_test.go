package model_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// builtNames are references that have the name that the kustomization builds, as some projects write them.
const builtNames = `
-- config/default/kustomization.yaml --
namespace: op-system
namePrefix: op-
resources: [all.yaml]
-- config/default/all.yaml --
apiVersion: v1
kind: ServiceAccount
metadata: {name: manager}
---
apiVersion: v1
kind: Service
metadata: {name: hooks}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: op-manager}
subjects:
- {kind: ServiceAccount, name: op-manager, namespace: op-system}
- {kind: ServiceAccount, name: op-manager, namespace: elsewhere}
- {kind: ServiceAccount, name: op-hooks, namespace: op-system}
- {kind: Group, name: op-manager}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobs.example.com}
spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: op-hooks, namespace: op-system, path: /convert}}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: a}
webhooks:
- {name: a.example.com, clientConfig: {service: {name: op-hooks, namespace: op-system}}}
- {name: b.example.com, clientConfig: {service: {name: op-others, namespace: op-system}}}
`

// references are the names and namespaces in a tree, with the prefix and namespace of the release in short.
func references(n tree.Node, list string) (all []string) {
	switch n := n.(type) {
	case *tree.Map:
		if list == "subjects" || list == "roleRef" || list == "service" {
			text := strings.TrimSuffix(n.Text("name")+" "+n.Text("namespace"), " ")
			all = append(all, strings.NewReplacer(model.PrefixMark, "PREFIX-", model.NamespaceMark, "NAMESPACE").Replace(text))
		}
		for _, f := range n.Fields {
			all = append(all, references(f.Value, f.Key)...)
		}
	case *tree.List:
		for _, i := range n.Items {
			all = append(all, references(i.Value, list)...)
		}
	}
	return all
}

// TestBuiltNames: a reference by the name that the kustomization builds follows the object, in its namespace. Of a name
// that no object has, what was done about its namespace stays.
func TestBuiltNames(t *testing.T) {
	want := map[string]string{
		"ClusterRoleBinding":             "PREFIX-manager, PREFIX-manager NAMESPACE, op-manager elsewhere, op-hooks OTHER, op-manager",
		"CustomResourceDefinition":       "PREFIX-hooks NAMESPACE",
		"ValidatingWebhookConfiguration": "PREFIX-hooks NAMESPACE, op-others OTHER",
	}
	of := "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: manager, namespace: op-system}\n"
	for _, test := range []struct{ name, archive, other string }{
		{"the kustomization's namespace", builtNames, "op-system"},
		{"the Deployment's namespace", strings.Replace(builtNames, "namespace: op-system\nnamePrefix", "namePrefix", 1) + of, "NAMESPACE"},
	} {
		m, err := loaded(t, test.archive)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range m.Documents {
			got := strings.Join(references(d.Object, ""), ", ")
			if want := strings.ReplaceAll(want[d.Kind], "OTHER", test.other); got != want {
				t.Errorf("%s: the %s refers to %q, want %q", test.name, d.Kind, got, want)
			}
		}
	}
}
