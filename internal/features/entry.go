package features

import (
	"path"
	"strings"
)

// An Entry is an item of a list of a kustomization.
type Entry struct {
	List string // components, resources, patches, replacements or vars
	// Item matches it: a path, or kind and name of the object that a replacement or a variable reads. A * stands for
	// any text.
	Item   string
	Folder string // of the kustomization, below config; "" is config/default
	With   Name   // a feature without which the item is off: it is about that one, too
	// Mounts is the feature that makes the Secret which the item has mounted. Something else may make it as well, so it
	// is not switched on, but it is not switched off either while the item is listed.
	Mounts Name
}

// In reports whether a list of a kustomization may have the entry: older ones have others.
func (e Entry) In(list string) bool {
	return list == e.List || e.List == "resources" && list == "bases" || e.List == "patches" && list == "patchesStrategicMerge"
}

// Is reports whether an item of that list, as YAML has it, is the entry.
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

// PathOf is the file or folder that an item of a list names, or "".
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
