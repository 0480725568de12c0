package yaml_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/slipway-dev/slipway/internal/generate/internal/yaml"
)

// node is a map with texts and maps, which may be shared.
type node struct {
	keys  []string
	texts []string
	maps  []*node // nil for a text
}

// random returns a node that refers to some of those before it.
func random(r *rand.Rand, before []*node) *node {
	samples := []string{"", "plain", "yes", "two\nlines", " lead\n", "trailing\n", "trailing\n\n", "a: b # c", "0x1", "é ü",
		"a text that is long enough to be folded, which depends on how deep it stands in the document, at least where it is written plain",
		"a 'text' that is long enough to be folded: which depends on how deep it stands in the document, and cannot be written plain"}
	n := &node{}
	for i := range r.IntN(4) {
		key := string(rune('a'+i)) + samples[r.IntN(len(samples))]
		n.keys = append(n.keys, key)
		n.texts = append(n.texts, samples[r.IntN(len(samples))])
		var sub *node
		if len(before) > 0 && r.IntN(3) > 0 {
			sub = before[r.IntN(len(before))]
		}
		n.maps = append(n.maps, sub)
	}
	return n
}

func (n *node) write(w *yaml.Writer, memo *yaml.Memo[*node]) {
	w.BeginMap()
	for i, key := range n.keys {
		w.Key(key)
		if sub := n.maps[i]; sub != nil {
			memo.Write(w, sub, func() { sub.write(w, memo) })
			continue
		}
		w.String(n.texts[i])
	}
	w.EndMap()
}

// TestMemoChangesNothing writes documents that share much, with and without a memo.
func TestMemoChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var nodes []*node
		for range 12 {
			nodes = append(nodes, random(r, nodes))
		}
		memo, shared := yaml.NewMemo[*node](), yaml.NewWriter()
		for _, n := range nodes {
			alone := yaml.NewWriter()
			n.write(alone, nil)
			n.write(shared, memo)
			if got, want := memo.End(shared), alone.Bytes(); !bytes.Equal(got, want) {
				t.Fatalf("with a memo:\n%s\nwithout:\n%s", got, want)
			}
		}
	}
}
