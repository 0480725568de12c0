package features

import (
	"path"
	"strings"
)

// An Entry describes an item of a kustomization's list that belongs to a feature.
type Entry struct {
	List string // components, resources, patches, replacements or vars
	// Item is a path or, for a replacement or variable, kind/name of the object that it reads. A * stands for any text.
	Item   string
	Folder string // of the kustomization, below config; "" is config/default
	With   Name   // another feature that the item depends on; while that is off, so is the item
	// Mounts is the feature that usually makes the Secret which the item mounts. Something else may make it, so
	// switching the item on does not enable the feature. But the feature cannot be disabled while the item is listed.
	Mounts Name
}

// In reports whether a list of this name can contain the entry. Older kustomizations call resources bases, and patches
// patchesStrategicMerge.
func (e Entry) In(list string) bool {
	return list == e.List || e.List == "resources" && list == "bases" || e.List == "patches" && list == "patchesStrategicMerge"
}

// Is reports whether the entry describes an item, which is decoded YAML.
func (e Entry) Is(item any) bool {
	if text := PathOf(item); text != "" {
		return e.matches(text)
	}
	fields, _ := item.(map[string]any)
	for _, key := range []string{"source", "objref"} {
		if object, ok := fields[key].(map[string]any); ok {
			kind, _ := object["kind"].(string)
			name, _ := object["name"].(string)
			return e.matches(kind + "/" + name)
		}
	}
	return false
}

// PathOf returns the cleaned path of the file or folder that an item names, or "".
func PathOf(item any) string {
	text, _ := item.(string)
	fields, _ := item.(map[string]any)
	if file, isPatch := fields["path"].(string); isPatch {
		text = file
	}
	if text == "" {
		return ""
	}
	return path.Clean(text)
}

func (e Entry) matches(text string) bool {
	if before, after, any := strings.Cut(e.Item, "*"); any {
		return len(text) >= len(before)+len(after) && strings.HasPrefix(text, before) && strings.HasSuffix(text, after)
	}
	return text == e.Item
}
