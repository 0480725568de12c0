package ship

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// The functions of this file follow paths of managed fields into an object as JSON has it. A path names items of lists
// by their keys or values, so no schema is needed.

// withParents are the fields of a set with all that they are in, and the keys of items that they are in.
func withParents(set *fieldpath.Set) *fieldpath.Set {
	all := &fieldpath.Set{}
	set.Iterate(func(p fieldpath.Path) {
		for i, element := range p {
			parent := p[:i+1].Copy()
			all.Insert(parent)
			if element.Key == nil {
				continue
			}
			for _, key := range *element.Key {
				all.Insert(append(parent.Copy(), fieldpath.FieldNameElement(key.Name)))
			}
		}
	})
	return all
}

// hasField reports whether there is something at a path below a node.
func hasField(node any, path fieldpath.Path) bool {
	if len(path) == 0 {
		return true
	}
	switch node := node.(type) {
	case map[string]any:
		if name := path[0].FieldName; name != nil {
			child, found := node[*name]
			return found && hasField(child, path[1:])
		}
	case []any:
		for _, item := range node {
			if selects(path[0], item) {
				return hasField(item, path[1:])
			}
		}
	}
	return false
}

// withoutField takes what is at a path out of a node, which it changes, and returns the node. A map or list that gets
// empty goes as well, as with server-side apply.
func withoutField(node any, path fieldpath.Path) any {
	switch node := node.(type) {
	case map[string]any:
		name := path[0].FieldName
		if name == nil {
			break
		}
		child := node[*name]
		switch {
		case len(path) == 1:
			delete(node, *name)
		case hasField(child, path[1:]):
			if node[*name] = withoutField(child, path[1:]); isNothing(node[*name]) {
				delete(node, *name)
			}
		}
	case []any:
		kept := node[:0]
		for _, item := range node {
			switch {
			case !selects(path[0], item):
				kept = append(kept, item)
			case len(path) > 1:
				kept = append(kept, withoutField(item, path[1:]))
			}
		}
		return kept
	}
	return node
}

// onlyFields is a node without what a set of fields does not have. The last field of a path is whole.
func onlyFields(node any, set *fieldpath.Set) any {
	switch node := node.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, child := range node {
			if of, has := fieldsAt(child, fieldpath.FieldNameElement(name), set); has {
				kept[name] = of
			}
		}
		return kept
	case []any:
		var elements []fieldpath.PathElement
		add := func(element fieldpath.PathElement) { elements = append(elements, element) }
		set.Members.Iterate(add)
		set.Children.Iterate(add)
		kept := []any{}
		for _, item := range node {
			if at := slices.IndexFunc(elements, func(e fieldpath.PathElement) bool { return selects(e, item) }); at >= 0 {
				of, _ := fieldsAt(item, elements[at], set)
				kept = append(kept, of)
			}
		}
		return kept
	}
	return node
}

// fieldsAt is what a set has of the node at an element, if it has any.
func fieldsAt(node any, element fieldpath.PathElement, set *fieldpath.Set) (any, bool) {
	if below := set.WithPrefix(element); !below.Empty() {
		return onlyFields(node, below), true
	}
	return node, set.Members.Has(element)
}

// isNothing reports whether a node is an empty map or list.
func isNothing(node any) bool {
	switch node := node.(type) {
	case map[string]any:
		return len(node) == 0
	case []any:
		return len(node) == 0
	}
	return false
}

// selects reports whether an element of a path means an item of a list.
func selects(element fieldpath.PathElement, item any) bool {
	if element.Value != nil {
		return value.Equals(*element.Value, value.NewValueInterface(item))
	}
	fields, isMap := item.(map[string]any)
	if element.Key == nil || !isMap {
		return false
	}
	for _, key := range *element.Key {
		if field, found := fields[key.Name]; !found || !value.Equals(key.Value, value.NewValueInterface(field)) {
			return false
		}
	}
	return true
}
