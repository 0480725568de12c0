package crdcheck

import (
	"bytes"
	"errors"
	"slices"

	yamlv3 "go.yaml.in/yaml/v3"
)

// Limits of what aliases stand for.
const (
	maxGrowth = 4 << 20 // bytes that aliases add
	nodeSize  = 64      // about what a node takes beside its text
)

// errAliases is that aliases add more.
var errAliases = errors.New("its aliases expand to too much")

// staysSmall refuses a document whose aliases add much, or that is no YAML. Each is replaced by what it stands for when
// a document becomes JSON: one long text, named often, could fill the memory.
func staysSmall(document []byte) error {
	if bytes.IndexByte(document, '&') < 0 || bytes.IndexByte(document, '*') < 0 {
		return nil
	}
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(document, &root); err != nil {
		return err
	}
	if left := room(maxGrowth); !left.has(&root, false) {
		return errAliases
	}
	return nil
}

// room is how many bytes aliases may still add.
type room int

// has takes what a node adds when it stands in the place of an alias, and whatever the aliases in it add. What contains
// itself takes all.
func (r *room) has(n *yamlv3.Node, copied bool) bool {
	if n.Kind == yamlv3.AliasNode {
		return r.has(n.Alias, true)
	}
	if copied {
		*r -= room(nodeSize + len(n.Value))
	}
	return *r >= 0 && !slices.ContainsFunc(n.Content, func(child *yamlv3.Node) bool { return !r.has(child, copied) })
}
