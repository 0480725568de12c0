package consistency_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/consistency"
)

// deployed are a manager and what belongs to it; each fits.
const deployed = `kind: Deployment
metadata: {name: op, namespace: op-system}
spec:
  template:
    metadata: {labels: {app: op}}
    spec:
      volumes:
      - {name: a, secret: {secretName: cert}}
      - {name: b, secret: {secretName: other, optional: true}}
      containers:
      - name: manager
        args: [--metrics-bind-address=:8443, --name=$(NAME), --verbose]
        env: [{name: NAME, value: op}, {name: TEXT, value: a $$(b)}]
        ports: [{name: webhook, containerPort: 9443}]
---
kind: Certificate
metadata: {name: op, namespace: op-system}
spec: {secretName: cert, dnsNames: [op.op-system.svc]}
---
kind: Certificate
metadata: {name: unused, namespace: op-system}
spec: {secretName: unmounted, dnsNames: [SERVICE_NAME.op-system.svc]}
---
kind: Certificate
metadata: {name: older, namespace: op-system}
spec: {secretName: unread, dnsNames: [$(SERVICE).op-system.svc]}
---
kind: Service
metadata: {name: op, namespace: op-system}
spec: {selector: {app: op}, ports: [{name: https, port: 8443}, {port: 443, targetPort: webhook}, {port: 444, targetPort: 9443}]}
---
kind: PodDisruptionBudget
metadata: {name: op, namespace: op-system}
spec: {selector: {matchLabels: {app: op}}}
---
kind: ValidatingWebhookConfiguration
metadata: {name: op}
webhooks: [{clientConfig: {service: {name: op, namespace: op-system}}}]
---
kind: NetworkPolicy
metadata: {name: op, namespace: op-system}
spec: {podSelector: {}}
---
kind: CustomResourceDefinition
metadata: {name: ops}
spec: {versions: [{schema: {openAPIV3Schema: {description: $(VAR_NAME) in SERVICE_NAME}}}]}
`

func objects(t *testing.T, text string) (all []*unstructured.Unstructured) {
	t.Helper()
	for _, document := range strings.Split(text, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte("apiVersion: v1\n"+document), &object.Object); err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
	return all
}

// TestAdded: each change makes one mistake, which is one of the object that does not fit any more.
func TestAdded(t *testing.T) {
	before := objects(t, deployed)
	if found := consistency.Mistakes(before); len(found) > 0 {
		t.Errorf("what fits: %+v", found)
	}
	for _, change := range []struct{ old, new, want string }{
		{"--verbose", "--metrics-bind-address=:8080", "deployment/op-system/op: the container manager gets the flag --metrics-bind-address twice"},
		{"--verbose", "-verbose, --verbose=false", "deployment/op-system/op: the container manager gets the flag --verbose twice"},
		{"--verbose", "--metrics-secure=false", "service/op-system/op: the manager serves its port https (8443) without TLS"},
		{"=:8443", "=:8080", "service/op-system/op: no container serves its port https (8443)"},
		{"name: webhook, ", "", "service/op-system/op: no container serves its port  (webhook)"},
		{"selector: {app: op}", "selector: {app: other}", "service/op-system/op: it selects no pods"},
		{"matchLabels: {app: op}", "matchLabels: {app: other}", "poddisruptionbudget/op-system/op: it selects no pods"},
		{"podSelector: {}", "podSelector: {matchLabels: {app: other}}", "networkpolicy/op-system/op: it selects no pods"},
		{"secretName: cert,", "secretName: made,", "deployment/op-system/op: it mounts the Secret cert, which nothing makes"},
		{"op.op-system.svc", "SERVICE_NAME.op-system.svc", `certificate/op-system/op: the placeholder SERVICE_NAME is not replaced in "SERVICE_NAME.op-system.svc"`},
		{"op.op-system.svc", "$(SERVICE).op-system.svc", `certificate/op-system/op: $(SERVICE) is not replaced in "$(SERVICE).op-system.svc"`},
		{"secretName: other", "secretName: unmounted", `certificate/op-system/unused: the placeholder SERVICE_NAME is not replaced in "SERVICE_NAME.op-system.svc"`},
		{"secretName: other", "secretName: unread", `certificate/op-system/older: $(SERVICE) is not replaced in "$(SERVICE).op-system.svc"`},
		{"op.op-system.svc", "op.system.svc", `certificate/op-system/op: "op.system.svc" names the namespace system, which is not deployed`},
		{"kind: PodDisruptionBudget\nmetadata: {name: op, namespace: op-system}\nspec: {selector: {matchLabels: {app: op}}}", "kind: PodDisruptionBudget\nmetadata: {name: op, namespace: system}",
			"poddisruptionbudget/system/op: it is in the namespace system, which is not deployed"},
		{"service: {name: op,", "service: {name: none,", "validatingwebhookconfiguration/op: the API server is to call the Service op-system/none, which is not deployed"},
		{"{name: NAME, value: op}, ", "", `deployment/op-system/op: $(NAME) is not replaced in "--name=$(NAME)"`},
	} {
		var got []string
		for _, m := range consistency.Added(before, objects(t, strings.Replace(deployed, change.old, change.new, 1))) {
			got = append(got, m.Object+": "+m.Text)
		}
		if !slices.Equal(got, []string{change.want}) {
			t.Errorf("%s: got %q, want %q", change.new, got, change.want)
		}
	}
}
