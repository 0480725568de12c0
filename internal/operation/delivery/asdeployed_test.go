package delivery

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

const withPlaceholders = `
-- config/crd/kustomization.yaml --
resources: [jobs.yaml]
configurations: [names.yaml]
-- config/crd/names.yaml --
nameReference:
- kind: Service
  version: v1
  fieldSpecs:
  - {kind: CustomResourceDefinition, group: apiextensions.k8s.io, path: spec/conversion/webhook/clientConfig/service/name}
namespace:
- {kind: CustomResourceDefinition, group: apiextensions.k8s.io, path: spec/conversion/webhook/clientConfig/service/namespace, create: false}
-- config/crd/jobs.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: jobs.example.com
  annotations: {cert: NAMESPACE/NAME, tool: v1}
spec:
  conversion:
    strategy: Webhook
    webhook:
      clientConfig:
        service: {name: webhook-service, namespace: system, path: /convert}
-- config/service/kustomization.yaml --
resources: [service.yaml]
-- config/service/service.yaml --
apiVersion: v1
kind: Service
metadata: {name: webhook-service, namespace: system}
-- config/default/kustomization.yaml --
namespace: op-system
namePrefix: op-
commonAnnotations: {more: here}
resources: [../crd, ../service]
patches:
- patch: '{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: jobs.example.com, annotations: {cert: op-system/op-cert}}}'
`

// TestAsDeployed: what a later deployment sets otherwise is installed as it sets it, and no more.
func TestAsDeployed(t *testing.T) {
	root := t.TempDir()
	unpack(t, root, withPlaceholders)
	definition := installed(t, root)
	service, _, _ := unstructured.NestedStringMap(definition.Object, convertingService[:]...)
	if diff := cmp.Diff(map[string]string{"name": "op-webhook-service", "namespace": "op-system", "path": "/convert"}, service); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"cert": "op-system/op-cert", "tool": "v1"}, definition.GetAnnotations()); diff != "" {
		t.Error(diff)
	}
	unpack(t, root, "-- config/default/kustomization.yaml --\nresources: [missing.yaml]\n")
	service, _, _ = unstructured.NestedStringMap(installed(t, root).Object, convertingService[:]...)
	if service["namespace"] != "system" {
		t.Errorf("with a broken config/default, the service is %v", service)
	}
}

// installed is the one definition that installing would apply.
func installed(t *testing.T, root string) *unstructured.Unstructured {
	t.Helper()
	definitions, err := buildDefinitions(t.Context(), &operation.Session{Handler: report.Discard}, root, nil)
	if err != nil || len(definitions) != 1 {
		t.Fatalf("got %v, %v", definitions, err)
	}
	return definitions[0]
}

func unpack(t *testing.T, root, files string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(files)).Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
