package project

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// setString makes key say value; the empty text removes the key.
func setString(n *yaml.Node, key, value string) {
	v, ok := lookup(n, key)
	switch {
	case ok && v.Value == value:
	case value == "":
		remove(n, key)
	case ok:
		v.Kind, v.Tag, v.Value, v.Content = yaml.ScalarNode, "!!str", value, nil
	default:
		insert(n, key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value})
	}
}

// setBool makes key say value; false removes the key unless it says so already.
func setBool(n *yaml.Node, key string, value bool) {
	v, ok := lookup(n, key)
	var now bool
	switch {
	case ok && v.Decode(&now) == nil && now == value:
	case !value:
		remove(n, key)
	case ok:
		v.Kind, v.Tag, v.Value, v.Content, v.Style = yaml.ScalarNode, "!!bool", "true", nil, 0
	default:
		insert(n, key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
	}
}

// setStrings makes key a list of texts; a single text that says the same stays.
func setStrings(n *yaml.Node, key string, values []string) {
	v, ok := lookup(n, key)
	switch {
	case ok && v.Kind == yaml.ScalarNode && len(values) == 1 && v.Value == values[0]:
		return
	case ok && v.Kind == yaml.SequenceNode && slices.EqualFunc(v.Content, values, func(n *yaml.Node, s string) bool { return n.Value == s }):
		return
	case len(values) == 0:
		remove(n, key)
		return
	}
	list := child(n, key, yaml.SequenceNode)
	list.Content = nil
	for _, s := range values {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s})
	}
}

// child returns the value of key as a node of this kind, made when it is absent
// or of another kind.
func child(n *yaml.Node, key string, kind yaml.Kind) *yaml.Node {
	tag := "!!map"
	if kind == yaml.SequenceNode {
		tag = "!!seq"
	}
	v, ok := lookup(n, key)
	if !ok {
		v = &yaml.Node{Kind: kind, Tag: tag}
		insert(n, key, v)
	}
	if v.Kind != kind {
		v.Kind, v.Tag, v.Value, v.Style = kind, tag, "", 0
	}
	if len(v.Content) == 0 {
		v.Style = 0 // `[]` and `{}` are written in one line; lines follow now
	}
	return v
}

// insert adds a key before the first one that follows it in the alphabet, which
// is the order of new files and leaves the order of existing keys alone.
func insert(n *yaml.Node, key string, value *yaml.Node) {
	at := len(n.Content)
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value > key {
			at = i
			break
		}
	}
	n.Content = slices.Insert(n.Content, at, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
}

// remove drops a key, if it is there.
func remove(n *yaml.Node, key string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = slices.Delete(n.Content, i, i+2)
			return
		}
	}
}

// cloneNode copies n deeply; documents hold no aliases (see Parse).
func cloneNode(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = nil
	for _, child := range n.Content {
		c.Content = append(c.Content, cloneNode(child))
	}
	return &c
}

// sameNode reports whether two nodes hold the same values, however they are written.
func sameNode(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && (a.Kind != yaml.ScalarNode || a.ShortTag() == b.ShortTag()) && slices.EqualFunc(a.Content, b.Content, sameNode)
}
