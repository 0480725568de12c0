package model

import (
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/report"
)

func holds(kustomization map[string]any, e features.Entry) bool {
	for name, list := range kustomization {
		if items, ok := list.([]any); ok && e.Folder == "" && e.In(name) && slices.ContainsFunc(items, e.Is) {
			return true
		}
	}
	return false
}

func read(text []byte) (map[string]any, error) {
	var kustomization map[string]any
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		return nil, &report.Error{Class: report.BadProject, What: "the kustomization cannot be read", Err: err}
	}
	if kustomization == nil {
		kustomization = map[string]any{}
	}
	return kustomization, nil
}

// edit returns a kustomization with marks for prefix and namespace, and without some entries.
func edit(text []byte, without []features.Entry) ([]byte, error) {
	kustomization, err := read(text)
	if err != nil {
		return nil, err
	}
	for _, e := range without {
		for name, list := range kustomization {
			if items, ok := list.([]any); ok && e.Folder == "" && e.In(name) {
				kustomization[name] = slices.DeleteFunc(items, e.Is)
			}
		}
	}
	kustomization["namePrefix"] = PrefixMark
	if namespace, ok := kustomization["namespace"].(string); ok && namespace != "" {
		kustomization["namespace"] = NamespaceMark
	}
	return yaml.Marshal(kustomization)
}
