package schema

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// use is one way to use a declaration. In a whole object the API server keeps the metadata itself: in a kind, and where
// a field is an embedded resource.
type use struct {
	decl  *load.TypeDecl
	whole bool
}

// judgeUse has the doubts about a declaration that its uses decide, and about all that it refers to. Schemas of the
// first stage are judged: those of later stages are copies, whose places in the code are not known.
func (b *Builder) judgeUse(u use) {
	if b.options.WithoutDoubts || b.judged[u] || !u.decl.Package.Local() {
		return
	}
	b.judged[u] = true
	b.judge(b.schemaOf(u.decl), u.whole)
}

func (b *Builder) judge(s *Schema, whole bool) {
	whole = whole || s.EmbeddedResource
	if s.ref != nil {
		b.judgeBounds(s)
		b.judgeUse(use{s.ref, whole})
	}
	if doubt, ok := b.whereUsed.Load(s.Properties["metadata"]); ok && !whole {
		doubt.(func())()
	}
	for _, part := range s.AllOf {
		b.judge(part, whole)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		b.judge(s.Properties[name], false)
	}
	if s.Items != nil {
		b.judge(s.Items, false)
	}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil {
		b.judge(a.Schema, false)
	}
}
