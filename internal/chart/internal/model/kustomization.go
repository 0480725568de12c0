package model

import (
	"path"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/report"
)

// An entry is a part of a kustomization: an entry of one of its lists.
type entry struct {
	list  string // components, resources, patches or replacements
	value string // of components and resources: their path; of patches: that of their file; of replacements: kind/name of their source
}

// in reports whether the kustomization has the entry.
func (e entry) in(kustomization map[string]any) bool {
	list, _ := kustomization[e.list].([]any)
	return slices.ContainsFunc(list, e.is)
}

func (e entry) is(item any) bool {
	switch item := item.(type) {
	case string:
		return path.Clean(item) == e.value
	case map[string]any:
		if file, ok := item["path"].(string); ok {
			return path.Clean(file) == e.value
		}
		source, _ := item["source"].(map[string]any)
		kind, _ := source["kind"].(string)
		name, _ := source["name"].(string)
		return e.list == "replacements" && (kind+"/"+name == e.value || kind == e.value)
	}
	return false
}

// read reads a kustomization.
func read(text []byte) (map[string]any, error) {
	var kustomization map[string]any
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		return nil, &report.Error{What: "the kustomization cannot be read", Err: err}
	}
	if kustomization == nil {
		kustomization = map[string]any{}
	}
	return kustomization, nil
}

// edit is a kustomization with marks for prefix and namespace, without some entries.
func edit(text []byte, without []entry) ([]byte, error) {
	kustomization, err := read(text)
	if err != nil {
		return nil, err
	}
	for _, e := range without {
		list, ok := kustomization[e.list].([]any)
		if ok {
			kustomization[e.list] = slices.DeleteFunc(list, e.is)
		}
	}
	kustomization["namePrefix"] = PrefixMark
	if namespace, ok := kustomization["namespace"].(string); ok && namespace != "" {
		kustomization["namespace"] = NamespaceMark
	}
	return yaml.Marshal(kustomization)
}
