package model

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
	"github.com/slipway-dev/slipway/internal/features"
)

// A Feature is a part of what is deployed that can be switched off.
type Feature struct {
	Name    string // of its folder below config
	Value   string // the value that switches it, such as metrics
	What    string // what it provides, in a sentence
	entries []features.Entry
}

// On is the condition that the feature is switched on.
func (f Feature) On() tree.Condition { return tree.If(".Values." + f.Value + ".enabled") }

// featuresOf returns the features of a kustomization: each of its components or, in projects of kubebuilder, the lines
// instead.
func featuresOf(kustomization map[string]any) []Feature {
	components := components(kustomization)
	var all []Feature
	for _, row := range features.Deployed() {
		f := Feature{Name: string(row.Name), Value: row.Value, What: row.What, entries: row.Without()}
		if i := slices.IndexFunc(components, row.Component().Is); i >= 0 {
			f.entries = []features.Entry{{List: "components", Item: components[i].(string)}}
			components = slices.Delete(components, i, i+1)
			all = append(all, f)
		} else if holds(kustomization, row.Lines()[0]) {
			all = append(all, f)
		}
	}
	for _, c := range components {
		name := path.Base(c.(string))
		all = append(all, Feature{Name: name, Value: valueOf(name), What: "The objects of config/" + name + ".", entries: []features.Entry{{List: "components", Item: c.(string)}}})
	}
	return all
}

func components(kustomization map[string]any) []any {
	list, _ := kustomization["components"].([]any)
	var paths []any
	for _, item := range list {
		if name, ok := item.(string); ok {
			paths = append(paths, path.Clean(name))
		}
	}
	return paths
}

// taken are keys of values that are no features.
var taken = []string{"manager", "serviceAccount", "crd", "rbac", "nameOverride", "fullnameOverride", "global"}

// valueOf returns the key of values for the component in a folder of this name: the name in camel case.
func valueOf(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	for i, w := range words {
		if i > 0 {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	key := strings.Join(words, "")
	isKnown := slices.ContainsFunc(features.Table(), func(f features.Feature) bool { return f.Value == key })
	if key == "" || isKnown || slices.Contains(taken, key) || key[0] <= '9' {
		key = "feature" + strings.ToUpper(key[:min(1, len(key))]) + key[min(1, len(key)):]
	}
	return key
}
