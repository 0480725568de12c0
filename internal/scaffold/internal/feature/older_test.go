package feature_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// sortedKeys is a project of kubebuilder 3 whose kustomization `kustomize edit fix` has written anew, as
// opentelemetry-operator's: the keys of each variable are sorted, and its patches are one list.
const sortedKeys = `
-- PROJECT --
domain: example.com
layout:
- go.kubebuilder.io/v3
projectName: op
repo: example.com/op
resources:
- api:
    crdVersion: v1
  domain: example.com
  group: batch
  kind: CronJob
  path: example.com/op/api/v1
  version: v1
  webhooks:
    defaulting: true
    webhookVersion: v1
version: "3"
-- go.mod --
module example.com/op

go 1.26.0
-- config/default/kustomization.yaml --
namespace: op-system
namePrefix: op-

# the following config is for teaching kustomize how to do var substitution
vars:
- fieldref:
    fieldPath: metadata.namespace
  name: CERTIFICATE_NAMESPACE
# the issuer's
  objref:
    group: cert-manager.io
    kind: Certificate
    name: serving-cert
    version: v1
- fieldref: {}
  name: CERTIFICATE_NAME
  objref:
    group: cert-manager.io
    kind: Certificate
    name: serving-cert
    version: v1
- fieldref: {}
  name: OWN
  objref:
    kind: Service
    name: own-service
    version: v1
- objref:
    kind: Service
    name: webhook-service
    version: v1
  fieldref: {}

  name: SERVICE_NAME
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- ../manager
- ../webhook
- ../certmanager
labels:
- includeSelectors: true
  pairs:
    app: op
patches:
- path: manager_webhook_patch.yaml
  target:
    kind: Deployment
- path: webhookcainjection_patch.yaml
-- config/default/manager_webhook_patch.yaml --
- op: add
  path: /spec/template/spec/containers/0/args/-
  value: --webhook
-- config/default/webhookcainjection_patch.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: mutating-webhook-configuration
  annotations:
    cert-manager.io/inject-ca-from: op-system/$(CERTIFICATE_NAME)
-- config/manager/kustomization.yaml --
resources:
- manager.yaml
-- config/manager/manager.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: controller-manager
  namespace: system
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - name: manager
        image: controller:latest
        args: [--leader-elect, --service=$(OWN)]
---
apiVersion: v1
kind: Service
metadata:
  name: own-service
  namespace: system
spec: {ports: [{port: 80}]}
-- config/webhook/kustomization.yaml --
resources:
- manifests.yaml
- service.yaml
-- config/webhook/service.yaml --
apiVersion: v1
kind: Service
metadata:
  name: webhook-service
  namespace: system
spec: {ports: [{port: 443}]}
-- config/webhook/manifests.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: mutating-webhook-configuration
webhooks: []
-- config/certmanager/kustomization.yaml --
resources:
- certificate.yaml
configurations:
- kustomizeconfig.yaml
-- config/certmanager/kustomizeconfig.yaml --
varReference:
- kind: Certificate
  group: cert-manager.io
  path: spec/dnsNames
- kind: MutatingWebhookConfiguration
  path: metadata/annotations
-- config/certmanager/certificate.yaml --
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: serving-cert
  namespace: system
spec:
  dnsNames: [$(SERVICE_NAME).op-system.svc]
`

// built is what config/default builds.
func built(t *testing.T, root string) string {
	t.Helper()
	objects, err := kustomization.Kustomization{Folder: filepath.Join(root, "config/default")}.Build(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, projecttest.Read(t, root, list))
	}
	var text strings.Builder
	for _, object := range objects {
		document, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + string(document))
	}
	return text.String()
}

// TestSwitchedInOlder: a project of an older layout builds without webhooks and without cert-manager besides, whatever
// the order of keys, and switched on again all is as it was.
func TestSwitchedInOlder(t *testing.T) {
	for name, test := range map[string]struct {
		off   []features.Name
		lacks []string
	}{
		"webhook": {[]features.Name{features.WebhookServer}, []string{"webhook-service", "--webhook", "inject-ca-from"}},
		"both":    {[]features.Name{features.WebhookServer, features.CertManager}, []string{"webhook-service", "inject-ca-from", "kind: Certificate"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			projecttest.Unpack(t, root, sortedKeys)
			before, text := projecttest.Tree(t, root), built(t, root)
			projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Disable(test.off...)))
			without := built(t, root)
			for _, lacks := range test.lacks {
				if !strings.Contains(text, lacks) || strings.Contains(without, lacks) {
					t.Errorf("%q is there still, or was not there before:\n%s", lacks, without)
				}
			}
			if !strings.Contains(without, "--service=own-service") && !strings.Contains(without, "--service=op-own-service") {
				t.Errorf("the project's own variable is not put in:\n%s", without)
			}
			projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(test.off...)))
			if diff := cmp.Diff(before, projecttest.Tree(t, root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMonitorOfOtherTools: a certificate that nothing can verify is not verified, so that metrics are read at all; in a
// project of slipway it is.
func TestMonitorOfOtherTools(t *testing.T) {
	const monitor, skips = "config/prometheus/monitor.yaml", "insecureSkipVerify: true"
	root := projecttest.New(t, newproject.Options{})
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Prometheus)))
	projecttest.Holds(t, root, monitor, "!"+skips)
	root = projecttest.New(t, newproject.Options{})
	byAnotherTool(t, root)
	plan, err := projectfile.Edit(fileview.Disk(root), feature.Enable(features.Prometheus))
	projecttest.Apply(t)(plan, err)
	projecttest.Holds(t, root, monitor, "    tlsConfig:\n      "+skips+"\n    authorization:\n")
	if left := strings.Join(plan.Left(), "\n"); !strings.Contains(left, "does not verify") {
		t.Errorf("what is left is %q", left)
	}
	if text := built(t, root); !strings.Contains(text, skips) {
		t.Error(text)
	}
}

// TestAlertsOff: without alerts, what puts names into their expressions goes, but for what another feature needs or
// was changed.
func TestAlertsOff(t *testing.T) {
	const names = "config/default/names.yaml"
	root := projecttest.New(t, newproject.Options{})
	before := projecttest.Read(t, root, list)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Alerts)))
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Disable(features.Alerts)))
	if diff := cmp.Diff(before, projecttest.Read(t, root, list)); diff != "" {
		t.Error(diff)
	}
	built(t, root)
	for name := range projecttest.Tree(t, root) {
		if strings.HasPrefix(name, "config/default/") && name != list {
			t.Errorf("%s is there still", name)
		}
	}
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Alerts)))
	projecttest.Unpack(t, root, "-- "+names+" --\n# mine\n"+projecttest.Read(t, root, names))
	changes := projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Disable(features.Alerts)))
	if kept := projecttest.Paths(changes, report.Kept); !slices.Contains(kept, names) {
		t.Errorf("kept are %v", kept)
	}
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Alerts, features.CertManager)))
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Disable(features.Alerts)))
	projecttest.Holds(t, root, list, "- services.yaml\n", "- path: names.yaml\n", "!names_alerts")
	built(t, root)
}
