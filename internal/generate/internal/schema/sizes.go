package schema

import (
	"fmt"
	"strconv"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

type (
	maxLength     int
	minLength     int
	pattern       string
	maxItems      int
	minItems      int
	uniqueItems   bool
	maxProperties int
	minProperties int
)

// UnmarshalMarker implements [marker.Unmarshaler].
func (m *maxItems) UnmarshalMarker(name, text string) error {
	text = argument(name, text)
	i, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("expected an integer, found %q", text)
	}
	*m = maxItems(i)
	return nil
}

func needsString(s *Schema) error {
	if s.Type != "string" && !s.IntOrString {
		return fmt.Errorf("needs a string, this is %s", typeName(s))
	}
	return nil
}

func needsList(s *Schema) error {
	if s.Type != "array" {
		return fmt.Errorf("needs a list, this is %s", typeName(s))
	}
	return nil
}

func needsObject(s *Schema) error {
	if s.Type != "object" {
		return fmt.Errorf("needs an object, this is %s", typeName(s))
	}
	return nil
}

func (m maxLength) modify(s *Schema, _ *load.TypeDecl) error {
	s.MaxLength = new(int64(m))
	return needsString(s)
}

func (m minLength) modify(s *Schema, _ *load.TypeDecl) error {
	s.MinLength = new(int64(m))
	return needsString(s)
}

func (m pattern) modify(s *Schema, _ *load.TypeDecl) error {
	s.Pattern = string(m)
	return needsString(s)
}

func (m maxItems) modify(s *Schema, _ *load.TypeDecl) error {
	s.MaxItems = new(int64(m))
	return needsList(s)
}

func (m minItems) modify(s *Schema, _ *load.TypeDecl) error {
	s.MinItems = new(int64(m))
	return needsList(s)
}

func (m uniqueItems) modify(s *Schema, _ *load.TypeDecl) error {
	s.UniqueItems = bool(m)
	return needsList(s)
}

func (m maxProperties) modify(s *Schema, _ *load.TypeDecl) error {
	s.MaxProperties = new(int64(m))
	return needsObject(s)
}

func (m minProperties) modify(s *Schema, _ *load.TypeDecl) error {
	s.MinProperties = new(int64(m))
	return needsObject(s)
}

// requiredSet also asks for something inside: a required field that may be
// empty is not worth much. Explicit bounds win.
type requiredSet struct{}

func (requiredSet) modify(s *Schema, _ *load.TypeDecl) error {
	field := (**int64)(nil)
	switch {
	case s.Type == "string":
		field = &s.MinLength
	case s.Type == "array":
		field = &s.MinItems
	case s.Type == "object", s.ref != nil: // whatever the type is that is referred to
		field = &s.MinProperties
	}
	if field != nil && *field == nil {
		*field = new(int64(1))
	}
	return nil
}
