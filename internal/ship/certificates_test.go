package ship

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

const certificateDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certificates.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: Certificate, listKind: CertificateList, plural: certificates, singular: certificate}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    subresources: {status: {}}
`

const certified = `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving-cert, namespace: default}
spec: {secretName: webhook-server-cert}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: certified.example.com
  annotations: {cert-manager.io/inject-ca-from: default/serving-cert}
webhooks:
- name: certified.example.com
  failurePolicy: Ignore
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: none, namespace: default}}
  rules: [{apiGroups: [certified.example.com], apiVersions: [v1], resources: [nothing], operations: [CREATE]}]
`

const certManagerDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: elsewhere, namespace: default, labels: {app.kubernetes.io/name: cert-manager}}
spec:
  replicas: 0
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: a, image: a}]}
`

// TestNoIssuer: a Certificate in a cluster with cert-manager's definitions alone is reported long before time is up;
// where cert-manager may be, its conditions are reported and waited for.
func TestNoIssuer(t *testing.T) {
	c, events := connect(t)
	for _, text := range []string{certificateDefinition, certified} {
		remove(t, c, text)
		if err := c.Apply(t.Context(), objects(t, text), ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	err := c.AwaitReady(t.Context(), objects(t, certified), time.Hour)
	e, ok := errors.AsType[*report.Error](err)
	if !ok || !strings.Contains(e.What, "no controller issues this certificate") || !strings.HasSuffix(e.Where, "default/serving-cert") || !strings.Contains(e.Hint, "webhook-server-cert") {
		t.Fatalf("got %v", err)
	}
	remove(t, c, certManagerDeployment)
	if err := c.Apply(t.Context(), objects(t, certManagerDeployment), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	certificates := c.objects.Resource(schema.GroupVersionResource{Group: CertManager, Version: "v1", Resource: "certificates"}).Namespace("default")
	live, err := certificates.Get(t.Context(), "serving-cert", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False", "message": "the issuer is not ready"}}}
	if _, err := certificates.UpdateStatus(t.Context(), live, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	told := false
	events.step = func(text string) {
		told = told || strings.Contains(text, "default/serving-cert: Ready=False: the issuer is not ready")
	}
	err = c.AwaitReady(t.Context(), objects(t, certified), issuerDelay+2*time.Second)
	if e, ok := errors.AsType[*report.Error](err); !ok || !told || !strings.Contains(e.What, "the issuer is not ready") {
		t.Errorf("its condition is reported: %v; then %v", told, err)
	}
}

// TestIssues: what is known of cert-manager's presence.
func TestIssues(t *testing.T) {
	for text, want := range map[string]bool{
		"kind: Deployment\nmetadata: {labels: {app: cert-manager}}":                                           true,
		"kind: Deployment\nmetadata: {labels: {app: other}}":                                                  false,
		"kind: ValidatingWebhookConfiguration\nwebhooks: [{rules: [{apiGroups: [cert-manager.io]}]}]":         true,
		"kind: ValidatingWebhookConfiguration\nwebhooks: [{rules: [{apiGroups: [example.com]}]}, {rules: 1}]": false,
	} {
		object := objects(t, "apiVersion: v1\n"+text)[0]
		if got := isCertManager(object) || judgesCertificates(object); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
