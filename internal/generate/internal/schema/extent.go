package schema

// Extent is roughly how many bytes s takes as YAML when it stands at the left.
// Types that are referred to again and again can make it larger than any memory,
// so it is known without writing anything.
func (b *Builder) Extent(s *Schema) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.extent(s).bytes
}

// extent is the size of a schema by itself and in lines; each line gets longer
// when the schema stands further to the right.
type extent struct{ lines, bytes float64 }

func (b *Builder) extent(s *Schema) extent {
	if e, ok := b.extents[s]; ok {
		return e
	}
	const perLine, perLevel = 12, 4
	e := extent{lines: 2, bytes: 2*perLine + float64(len(s.Description))}
	inside := func(part *Schema) {
		of := b.extent(part)
		e.lines += of.lines + 1
		e.bytes += of.bytes + perLine + perLevel*of.lines
	}
	if s.Items != nil {
		inside(s.Items)
	}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil {
		inside(a.Schema)
	}
	for _, p := range s.Properties {
		inside(p)
	}
	for _, p := range s.AllOf {
		inside(p)
	}
	for _, p := range s.AnyOf {
		inside(p)
	}
	b.extents[s] = e
	return e
}
