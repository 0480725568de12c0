package schema

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

// limits are a pair of bounds by all that say something about them; open ones are not allowed themselves.
type limits struct {
	least, most         []float64
	openLeast, openMost bool
}

// empty reports whether no value meets both bounds. An open bound is so in the definition only if it is the only one:
// where a field and its type both have it, the two stand apart from the marker that opens them.
func (l limits) empty() (least, most float64, empty bool) {
	if len(l.least) == 0 || len(l.most) == 0 {
		return 0, 0, false
	}
	least, most = slices.Max(l.least), slices.Min(l.most)
	open := l.openLeast && len(l.least) == 1 || l.openMost && len(l.most) == 1
	return least, most, least > most || open && least == most
}

// pairs are the pairs of bounds of s and of what it refers to.
func (b *Builder) pairs(s *Schema) [4]limits {
	var all [4]limits
	for range deepestReference {
		all[0].openLeast = all[0].openLeast || s.ExclusiveMinimum
		all[0].openMost = all[0].openMost || s.ExclusiveMaximum
		for i, pair := range boundsOf(s) {
			all[i].least = appendSet(all[i].least, pair[0])
			all[i].most = appendSet(all[i].most, pair[1])
		}
		if s.ref == nil {
			break
		}
		s = b.schemaOf(s.ref)
	}
	return all
}

// deepestReference bounds what types can make each other be looked at, which may be declared in a circle.
const deepestReference = 100

// boundsOf are the least and the most of each pair in s, in the order of [pairOf].
func boundsOf(s *Schema) [4][2]*float64 {
	return [4][2]*float64{
		{s.Minimum, s.Maximum},
		{float(s.MinLength), float(s.MaxLength)},
		{float(s.MinItems), float(s.MaxItems)},
		{float(s.MinProperties), float(s.MaxProperties)},
	}
}

// pairOf is the pair that a marker has a bound of.
func pairOf(v *marker.Value) (pair int, ok bool) {
	switch v.Data.(type) {
	case minimum, maximum:
		return 0, true
	case minLength, maxLength:
		return 1, true
	case minItems, maxItems:
		return 2, true
	case minProperties, maxProperties:
		return 3, true
	}
	return 0, false
}

// bounded are the markers of bounds that a schema of the first stage has.
type bounded struct {
	context
	markers []*marker.Value
}

// keepBound keeps a marker of a bound of a schema that refers to a type: whether a value meets the bounds of both is
// known when all types are read.
func (c context) keepBound(v *marker.Value, s *Schema) {
	if _, isBound := pairOf(v); !isBound || s.ref == nil {
		return
	}
	kept := bounded{context: c}
	if earlier, ok := c.b.bounded.Load(s); ok {
		kept = earlier.(bounded)
	}
	kept.markers = append(kept.markers, v)
	c.b.bounded.Store(s, kept)
}

// judgeBounds doubts bounds that no value meets together with those of the type.
func (b *Builder) judgeBounds(s *Schema) {
	found, ok := b.bounded.Load(s)
	if !ok {
		return
	}
	kept := found.(bounded)
	own, all := ownPairs(s), b.pairs(s)
	reported := [4]bool{}
	for _, v := range slices.Backward(kept.markers) {
		i, _ := pairOf(v)
		_, _, known := own[i].empty()
		if least, most, empty := all[i].empty(); empty && !known && !reported[i] {
			reported[i] = true
			kept.doubt(report.RuleImpossibleValue, v.Pos, "", "+%s: no value meets both bounds, %v and %v: the bounds of the type %s hold, too",
				v.Definition.Name, least, most, s.ref.Name())
		}
	}
}

// ownPairs are the pairs of bounds of s alone.
func ownPairs(s *Schema) [4]limits {
	alone := *s
	alone.ref = nil
	return (*Builder)(nil).pairs(&alone)
}

// doubtBounds doubts a pair of bounds that no value meets.
func (c context) doubtBounds(v *marker.Value, s *Schema) {
	i, _ := pairOf(v)
	if least, most, empty := ownPairs(s)[i].empty(); empty {
		c.doubt(report.RuleImpossibleValue, v.Pos, "", "+%s: no value meets both bounds, %v and %v", v.Definition.Name, least, most)
	}
}

func appendSet(list []float64, f *float64) []float64 {
	if f == nil {
		return list
	}
	return append(list, *f)
}

func float(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}
