package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

type (
	maximum          float64
	minimum          float64
	exclusiveMaximum bool
	exclusiveMinimum bool
	multipleOf       float64
)

// argument is the text of a marker's value. Those of the k8s: namespace may have
// a comment after it.
func argument(name, text string) string {
	if strings.HasPrefix(name, "k8s:") {
		text, _, _ = strings.Cut(text, "#")
	}
	return strings.TrimSpace(text)
}

func parseNumber(name, text string) (float64, error) {
	text = argument(name, text)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("expected a number, found %q", text)
	}
	return f, nil
}

// UnmarshalMarker implements [marker.Unmarshaler]: other than the usual numbers,
// bounds may have a plus sign or an exponent.
func (m *maximum) UnmarshalMarker(name, text string) error {
	f, err := parseNumber(name, text)
	*m = maximum(f)
	return err
}

// UnmarshalMarker implements [marker.Unmarshaler] as for maximum.
func (m *minimum) UnmarshalMarker(name, text string) error {
	f, err := parseNumber(name, text)
	*m = minimum(f)
	return err
}

func needsNumber(s *Schema) error {
	if s.Type != "integer" && s.Type != "number" {
		return fmt.Errorf("needs a number, this is %s", typeName(s))
	}
	return nil
}

// bound sets a bound of a number, which must be whole for integers.
func bound(s *Schema, field **float64, value float64) error {
	if err := needsNumber(s); err != nil {
		return err
	}
	if s.Type == "integer" && (value != math.Trunc(value) || math.IsInf(value, 0)) {
		return fmt.Errorf("%v is not an integer, but the field is", value)
	}
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return fmt.Errorf("%v is no number that JSON has; delete the marker if there is no bound", value)
	}
	*field = &value
	return nil
}

func (m maximum) modify(s *Schema, _ context) error { return bound(s, &s.Maximum, float64(m)) }

func (m minimum) modify(s *Schema, _ context) error { return bound(s, &s.Minimum, float64(m)) }

func (m multipleOf) modify(s *Schema, _ context) error {
	return bound(s, &s.MultipleOf, float64(m))
}

func (m exclusiveMaximum) modify(s *Schema, _ context) error {
	s.ExclusiveMaximum = bool(m)
	return needsNumber(s)
}

func (m exclusiveMinimum) modify(s *Schema, _ context) error {
	s.ExclusiveMinimum = bool(m)
	return needsNumber(s)
}
