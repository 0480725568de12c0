package schema

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
)

// modifier is the value of a marker that changes the schema of what it stands
// at, in the context of the declaration around it.
type modifier interface {
	modify(s *Schema, c context) error
}

// rank orders modifiers; those without a rank have the usual one. What other
// modifiers look at goes before them, what collects goes after.
type rank int

const (
	early rank = iota - 1
	usual
	late   // AtMostOneOf
	later  // ExactlyOneOf
	latest // AtLeastOneOf
)

type ranked interface{ rank() rank }

func rankOf(m modifier) rank {
	if r, ok := m.(ranked); ok {
		return r.rank()
	}
	return usual
}

// problem is what is wrong with a marker for the schema that it stands at.
type problem struct {
	pos token.Pos
	err error
}

// step is a modifier that is due.
type step struct {
	modifier
	value *marker.Value
	items bool // means the items of the list that it stands at
}

// applyAll lets all modifiers among values change s: first those of s itself,
// then those of its items, each by rank and then in source order.
func (c context) applyAll(values marker.Values, s *Schema) []problem {
	var steps []step
	for i := range values {
		if m, ok := values[i].Data.(modifier); ok {
			steps = append(steps, step{m, &values[i], strings.HasPrefix(values[i].Definition.Name, itemsPrefix)})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		return cmp.Or(compareBool(a.items, b.items), cmp.Compare(rankOf(a.modifier), rankOf(b.modifier)))
	})
	var problems []problem
	for _, st := range steps {
		if err := st.apply(s, c); err != nil {
			problems = append(problems, problem{st.value.Pos, fmt.Errorf("+%s: %w", st.value.Definition.Name, err)})
		}
	}
	return problems
}

func (st step) apply(s *Schema, c context) error {
	if !st.items {
		return st.modify(s, c)
	}
	if _, list := st.modifier.(enum); list && !c.edition().ItemsLists {
		return c.failing()
	}
	if s.Type != "array" || s.Items == nil {
		return fmt.Errorf("needs a list, this is %s", typeName(s))
	}
	return st.modify(s.Items, c)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// typeName names the type of s in messages.
func typeName(s *Schema) string {
	switch {
	case s.Type == "" && s.ref != nil && !s.ref.Package.Local():
		return "of type " + s.ref.Name() + ", of which controller-gen knows no more than its name here; use a type of your own, with the marker on it"
	case s.Type == "" && s.ref != nil:
		return "of type " + s.ref.Name() + ", of which controller-gen knows no more than its name here; put the marker on that type"
	case s.Type == "":
		return "of unknown type"
	}
	return "of type " + s.Type
}
