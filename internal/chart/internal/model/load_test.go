package model_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
	"github.com/slipway-dev/slipway/internal/kustomization"
)

// loaded is the model of the kustomization in config/default of these files.
func loaded(t *testing.T, archive string) (*model.Model, error) {
	t.Helper()
	root := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return model.Load(t.Context(), filepath.Join(root, "config/default"), kustomization.Files{})
}

const (
	// features are two components, of which the second needs the first.
	features = `
-- config/default/kustomization.yaml --
namespace: op-system
namePrefix: op-
resources: [manager.yaml, other.yaml]
components: [../metrics, ../prometheus]
-- config/default/manager.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: system}
spec: {replicas: 1}
---
apiVersion: v1
kind: Namespace
metadata: {name: system}
-- config/default/other.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {a: b}
-- config/metrics/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [service.yaml]
patches:
- patch: '[{"op": "replace", "path": "/spec/replicas", "value": 2}]'
  target: {kind: Deployment}
-- config/metrics/service.yaml --
apiVersion: v1
kind: Service
metadata: {name: metrics}
-- config/prometheus/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- patch: '[{"op": "add", "path": "/metadata/labels", "value": {"scraped": "yes"}}]'
  target: {kind: Service, name: metrics}
`
	definition = `
-- config/default/kustomization.yaml --
resources: [crd.yaml]
-- config/default/crd.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobs.example.com}
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        maxProperties: 5
`
)

// fields are those of a map with their conditions.
func fields(m *tree.Map) (all []string) {
	for _, f := range m.Fields {
		text := f.Key
		if s, ok := f.Value.(tree.Scalar); ok {
			text += "=" + strings.TrimSpace(strings.Trim(mustText(s), `"`))
		}
		if !f.When.Always() {
			text += " if " + f.When.String()
		}
		all = append(all, text)
	}
	return all
}

func mustText(s tree.Scalar) string {
	switch v := s.Value.(type) {
	case string:
		return v
	case int64:
		return strings.Repeat("I", int(v)) // small numbers
	}
	return "?"
}

// TestLoad: what differs with a feature has its condition, and what names the release has marks.
func TestLoad(t *testing.T) {
	m, err := loaded(t, features)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range m.Features {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{"metrics", "prometheus"}) {
		t.Errorf("the features are %v", names)
	}
	documents := map[string]model.Document{}
	for _, d := range m.Documents {
		documents[d.Kind+"/"+d.Name] = d
	}
	if _, ok := documents["Namespace/system"]; ok || len(documents) != 3 { // which Helm makes
		t.Errorf("the documents are %v", documents)
	}
	manager := documents["Deployment/manager"]
	if diff := cmp.Diff([]string{"replicas=II if .Values.metrics.enabled", "replicas=I if not .Values.metrics.enabled"}, fields(manager.Object.At("spec"))); diff != "" {
		t.Errorf("the manager: %s", diff)
	}
	if metadata := manager.Object.At("metadata"); metadata.Text("name") != model.PrefixMark+"manager" || metadata.Text("namespace") != model.NamespaceMark || !manager.When.Always() {
		t.Errorf("the manager's metadata is %v", fields(metadata))
	}
	service := documents["Service/metrics"]
	if service.Feature != "metrics" || service.When.String() != ".Values.metrics.enabled" {
		t.Errorf("the Service is of the feature %q, if %s", service.Feature, service.When)
	}
	if diff := cmp.Diff([]string{"apiVersion=v1", "kind=Service", "metadata"}, fields(service.Object)); diff != "" {
		t.Errorf("the Service: %s", diff)
	}
	if got := fields(service.Object.At("metadata")); !slices.Contains(got, "labels if .Values.prometheus.enabled") {
		t.Errorf("the Service's metadata is %v", got)
	}
	if other := documents["ConfigMap/other"]; !other.When.Always() || other.Feature != "" || !other.Of("", "ConfigMap") || other.Of("apps", "ConfigMap") {
		t.Errorf("the other object is %+v", other)
	}
}

// TestSchemas: schemas come back whole, whether kustomize saw them or not.
func TestSchemas(t *testing.T) {
	patch := strings.Replace(definition, "resources: [crd.yaml]\n", "resources: [crd.yaml]\npatches:\n- patch: '[{\"op\": \"add\", \"path\": \"/spec/versions/0/schema/openAPIV3Schema/title\", \"value\": \"mine\"}]'\n  target: {kind: CustomResourceDefinition}\n", 1)
	for name, test := range map[string]struct {
		archive string
		want    map[string]any
	}{
		"as it is": {definition, map[string]any{"type": "object", "maxProperties": int64(5)}},
		"patched":  {patch, map[string]any{"type": "object", "maxProperties": int64(5), "title": "mine"}},
	} {
		m, err := loaded(t, test.archive)
		if err != nil {
			t.Fatal(err)
		}
		schema := m.Documents[0].Object.At("spec").List("versions").Maps()[0].At("schema", "openAPIV3Schema")
		got, plain := tree.Plain(schema)
		if diff := cmp.Diff(any(test.want), got); diff != "" || !plain {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestOwnNamespace: a namespace that objects name themselves is the release's where it is the manager's.
func TestOwnNamespace(t *testing.T) {
	m, err := loaded(t, strings.Replace(features, "namespace: op-system\n", "", 1)+"-- config/default/other.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: elsewhere}\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Documents {
		want := map[string]string{"Deployment": model.NamespaceMark, "ConfigMap": "elsewhere"}[d.Kind]
		if got := d.Object.At("metadata").Text("namespace"); got != want {
			t.Errorf("%s is in %q, want %q", d.Kind, got, want)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, archive := range []string{"-- config/default/x --\n", "-- config/default/kustomization.yaml --\n[\n", "-- config/default/kustomization.yaml --\nresources: [none.yaml]\n"} {
		if _, err := loaded(t, archive); err == nil {
			t.Errorf("%q is taken", archive)
		}
	}
}

// TestBeginning: names begin with the prefix without its dash; without a dash no release gives such names.
func TestBeginning(t *testing.T) {
	for text, want := range map[string]string{"namePrefix: op-\n": "op", "namePrefix: op\n": "", "{}\n": "", "[": ""} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := model.Beginning(dir, kustomization.Files{}); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := model.Beginning(t.TempDir(), kustomization.Files{}); got != "" {
		t.Errorf("without a kustomization: %q", got)
	}
}
