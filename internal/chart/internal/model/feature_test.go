package model

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/features"
)

func TestValueOf(t *testing.T) {
	for name, want := range map[string]string{
		"backup": "backup", "my-feature": "myFeature", "a.b_C": "aBC", "crd": "featureCrd", "webhook": "featureWebhook", "2nd": "feature2nd", "..": "feature",
	} {
		if got := valueOf(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestFeatures: components are features, whoever made them, and so are the lines of projects of kubebuilder.
func TestFeatures(t *testing.T) {
	for text, want := range map[string][]string{
		"resources: [../rbac]":                                                                    nil,
		"components: [../namespaced, ../../backup, ../metrics]":                                   {"metrics", "namespaced", "backup"},
		"resources: [../prometheus, metrics_service.yaml]":                                        {"metrics", "prometheus"},
		"resources: [../webhook, ./../certmanager]\npatches:\n- path: manager_webhook_patch.yaml": {"webhook", "certmanager"},
		"replacements:\n- source: {kind: Certificate}":                                            nil,
	} {
		kustomization, err := read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range featuresOf(kustomization) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

// TestEdit: entries go out of a kustomization, and marks come in.
func TestEdit(t *testing.T) {
	text := []byte("namespace: a\ncomponents: [../metrics, ../x]\nreplacements:\n- source: {kind: Service, name: s}\n- source: {kind: Service, name: t}\n")
	out, err := edit(text, []features.Entry{{List: "components", Item: "../metrics"}, {List: "replacements", Item: "Service/s"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "components:\n- ../x\nnamePrefix: " + PrefixMark + "\nnamespace: " + NamespaceMark + "\nreplacements:\n- source:\n    kind: Service\n    name: t\n"
	if string(out) != want {
		t.Errorf("got\n%s", out)
	}
	if _, err := edit([]byte("["), nil); err == nil {
		t.Error("what is no YAML is read")
	}
}
