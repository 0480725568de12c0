package tree

import (
	"slices"
	"strings"
)

// A Condition is an expression of Go's template language. The zero Condition always holds.
type Condition struct{ terms []string }

// If holds when an expression, such as .Values.metrics.enabled, is true or not empty.
func If(expression string) Condition { return Condition{[]string{expression}} }

// Always reports whether the condition always holds.
func (c Condition) Always() bool { return len(c.terms) == 0 }

// All holds when all of the conditions do.
func All(conditions ...Condition) Condition {
	var all Condition
	for _, c := range conditions {
		for _, term := range c.terms {
			if !slices.Contains(all.terms, term) {
				all.terms = append(all.terms, term)
			}
		}
	}
	return all
}

// Any holds when one of the conditions does, or if there are none.
func Any(conditions ...Condition) Condition {
	var any []string
	for _, c := range conditions {
		if c.Always() {
			return Condition{}
		}
		if slices.Contains(any, c.Not().operand()) {
			return Condition{}
		}
		if term := c.operand(); !slices.Contains(any, term) {
			any = append(any, term)
		}
	}
	switch len(any) {
	case 0:
		return Condition{}
	case 1:
		return If(any[0])
	}
	return If("(or " + strings.Join(any, " ") + ")")
}

// Not holds when c does not. C must not be the zero Condition.
func (c Condition) Not() Condition {
	term := c.operand()
	if inner, ok := strings.CutPrefix(term, "(not "); ok {
		return If(strings.TrimSuffix(inner, ")"))
	}
	return If("(not " + term + ")")
}

// Given returns what is left of the condition where another one is known to hold.
func (c Condition) Given(known Condition) Condition {
	return Condition{slices.DeleteFunc(slices.Clone(c.terms), func(term string) bool { return slices.Contains(known.terms, term) })}
}

// Is reports whether both conditions have the same terms.
func (c Condition) Is(other Condition) bool { return slices.Equal(c.terms, other.terms) }

// String returns the condition as it follows `if`.
func (c Condition) String() string {
	if len(c.terms) == 1 {
		if inner, ok := strings.CutPrefix(c.terms[0], "("); ok {
			return strings.TrimSuffix(inner, ")")
		}
		return c.terms[0]
	}
	return "and " + strings.Join(c.terms, " ")
}

// operand returns the condition as an operand of another one.
func (c Condition) operand() string {
	if len(c.terms) == 1 {
		return c.terms[0]
	}
	return "(" + c.String() + ")"
}
