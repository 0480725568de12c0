// Package aliases measures what a text of YAML becomes when each alias is replaced by what it stands for: a few hundred
// bytes whose aliases stand for lists of aliases, or for one long text, can become all memory and more.
//
//	if err := aliases.Check(document); err != nil { … } // before it becomes JSON, which has no aliases
package aliases

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v3"
)

// Most is how many bytes aliases may add, far above what they save people in writing.
const Most = 4 << 20

// ErrGrowth is that aliases add more.
var ErrGrowth = errors.New("its YAML aliases expand to too much")

// Check refuses a document whose aliases add too much, and what may have aliases and is no YAML: another parser might
// make something of it.
func Check(document []byte) error {
	if bytes.IndexByte(document, '&') < 0 || bytes.IndexByte(document, '*') < 0 {
		return nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return err
	}
	_, err := (&walk{measure: &measure{}, nesting: maxNesting, sizes: map[*yaml.Node]int{}}).size(&root)
	return err
}

// maxNesting is how deep texts in texts are looked into: a patch in a transformer in a kustomization is two.
const maxNesting = 8

// nodeSize is about what a node takes beside its text.
const nodeSize = 64

// maxSize is more than the size of any document that is read.
const maxSize = 4 << 30

// Growth is how many bytes are added to a text of YAML when each alias is replaced by what it stands for. A text that
// is no YAML adds nothing: kustomize says what is wrong with it. Texts in the text, such as patches, count as well.
func Growth(text []byte) (int, error) { return (&measure{}).text(text, 0) }

// measure adds up what aliases stand for.
type measure struct {
	total int
}

// text measures every document, divided as kustomize does it: a mistake in one hides none of the others.
func (m *measure) text(text []byte, nesting int) (int, error) {
	if !suspicious(text) || nesting > maxNesting {
		return m.total, nil
	}
	for piece := range bytes.SplitSeq(text, []byte("\n---")) {
		decoder := yaml.NewDecoder(bytes.NewReader(piece))
		for {
			var document yaml.Node
			if decoder.Decode(&document) != nil { // the end, or a mistake
				break
			}
			w := walk{measure: m, nesting: nesting, sizes: map[*yaml.Node]int{}}
			if _, err := w.size(&document); err != nil {
				return m.total, err
			}
		}
	}
	return m.total, nil
}

// walk measures a document.
type walk struct {
	*measure
	nesting int
	sizes   map[*yaml.Node]int // of nodes that are measured; 0 of those that are being measured
}

// size is that of a node with its aliases replaced. It looks at each node once.
func (w *walk) size(n *yaml.Node) (int, error) {
	if size, known := w.sizes[n]; known {
		if size == 0 {
			return 0, ErrGrowth // one that contains itself never ends
		}
		return size, nil
	}
	w.sizes[n] = 0
	size := nodeSize + len(n.Value)
	if n.Kind == yaml.AliasNode {
		stands, err := w.size(n.Alias)
		if err != nil {
			return 0, err
		}
		if w.total += stands; w.total > Most {
			return 0, ErrGrowth
		}
		size = stands
	}
	for _, child := range n.Content {
		part, err := w.size(child)
		if err != nil {
			return 0, err
		}
		if size += part; size > maxSize { // no sum overflows
			return 0, ErrGrowth
		}
	}
	if n.Kind == yaml.ScalarNode {
		before := w.total
		if _, err := w.text([]byte(n.Value), w.nesting+1); err != nil {
			return 0, err
		}
		size += w.total - before
	}
	w.sizes[n] = size
	return size, nil
}

// suspicious reports whether there may be aliases in a text, or in a text in it: an anchor and an alias, as they are or
// as characters that quotes hide.
func suspicious(text []byte) bool {
	if len(text) > 0 && text[0] >= 0xfe { // UTF-16
		return true
	}
	for _, hidden := range []string{`\x`, `\u`, `\U`} {
		if bytes.Contains(text, []byte(hidden)) {
			return true
		}
	}
	return names(text, '&') && names(text, '*')
}

// names reports whether a sign is followed by a name somewhere.
func names(text []byte, sign byte) bool {
	for {
		at := bytes.IndexByte(text, sign)
		if at < 0 || at+1 == len(text) {
			return false
		}
		if text = text[at+1:]; isName(text[0]) {
			return true
		}
	}
}

// isName reports whether a byte may begin the name of an anchor: a letter, a digit, _ or -, or part of a longer
// character.
func isName(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b == '-' || b >= 0x80
}
