package modulekinds

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Limits of what aliases stand for, the same as those of slipway's internal/yamlsize.
const (
	maxGrowth = 4 << 20 // bytes that aliases add
	nodeSize  = 64      // about what a node takes beside its text
)

// staysSmall reports whether a document is YAML whose aliases add little. Each is replaced by what it stands for when a
// document becomes JSON: one long text, named often, could fill the memory.
func staysSmall(document []byte) bool {
	if bytes.IndexByte(document, '&') < 0 || bytes.IndexByte(document, '*') < 0 {
		return true
	}
	var root yaml.Node
	left := room(maxGrowth)
	return yaml.Unmarshal(document, &root) == nil && left.has(&root, false)
}

// room is how many bytes aliases may still add.
type room int

// has takes what a node adds when it stands in the place of an alias, and whatever the aliases in it add. What contains
// itself takes all.
func (r *room) has(n *yaml.Node, copied bool) bool {
	if n.Kind == yaml.AliasNode {
		return r.has(n.Alias, true)
	}
	if copied {
		*r -= room(nodeSize + len(n.Value))
	}
	return *r >= 0 && !slices.ContainsFunc(n.Content, func(child *yaml.Node) bool { return !r.has(child, copied) })
}
